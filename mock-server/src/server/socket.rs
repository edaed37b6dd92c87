//! The socket as the HTTP layer writes to it: each event of a stream is a write of its own.
//!
//! Some clients lose an event whose end comes with a later read. The HTTP layer gathers chunks
//! and would write several at once; here they are taken apart again, which is cheaper than having
//! each chunk wait for the one before it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::delivery::Endings;
use super::hangup::{HangUp, Resettable};

/// What follows the data of a chunk that is not the last (RFC 9112, section 7.1). The HTTP layer
/// hands it over as a slice of its own.
const CHUNK_END: &[u8] = b"\r\n";

/// A stream that writes one chunk at a time.
#[derive(Debug)]
pub(super) struct Socket<S> {
    stream: S,
    endings: Endings,
    hang_up: HangUp,
}

impl<S> Socket<S> {
    pub(super) fn new(stream: S, endings: Endings, hang_up: HangUp) -> Self {
        Self { stream, endings, hang_up }
    }
}

impl<S: Resettable> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: Resettable> AsyncWrite for Socket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.endings.about_to_be_written();
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let chunk_end = slices.iter().position(|slice| **slice == *CHUNK_END);
        let end = chunk_end.map_or(slices.len(), |position| position + 1);
        if end == slices.len() {
            self.endings.about_to_be_written();
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, &slices[..end])
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        // The HTTP layer flushes when it has nothing more to write.
        self.endings.written();
        Poll::Ready(self.hang_up.obey(&self.stream))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
