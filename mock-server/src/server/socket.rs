//! The socket as the HTTP layer writes to it: no write ends within an event.
//!
//! Some clients lose an event whose end comes with a later read. The HTTP layer gathers chunks,
//! each of which is an event, and would end a write wherever its own list of slices ends; here its
//! writes are made to end where a chunk ends, and are kept below what any client's buffer takes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::delivery::Endings;
use super::hangup::{HangUp, Resettable};

/// What follows the data of a chunk that is not the last (RFC 9112, section 7.1). The HTTP layer
/// hands it over as a slice of its own.
const CHUNK_END: &[u8] = b"\r\n";

/// What follows the data of the last chunk, with the end of the body.
const BODY_END: &[u8] = b"\r\n0\r\n\r\n";

/// How many bytes the chunks of one write may have together, where no fault is about it. Clients
/// read at least so much at once, so that each read ends where a chunk ends.
const WRITE: usize = 4096;

/// How many of the slices go out in one write of so many bytes, or of one chunk.
fn end_of_write(slices: &[IoSlice<'_>], most: usize) -> usize {
    let (mut end, mut length) = (None, 0);
    for (position, slice) in slices.iter().enumerate() {
        length += slice.len();
        if [CHUNK_END, BODY_END].contains(&&**slice) {
            match end {
                Some(end) if length > most => return end,
                _ => end = Some(position + 1),
            }
        }
    }
    end.unwrap_or(slices.len())
}

/// A stream whose writes end where a chunk ends.
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
        let end = end_of_write(slices, if self.endings.are_apart() { 0 } else { WRITE });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(data: &[u8]) -> [IoSlice<'_>; 3] {
        [IoSlice::new(b"5\r\n"), IoSlice::new(data), IoSlice::new(CHUNK_END)]
    }

    #[test]
    fn a_write_ends_where_a_chunk_ends() {
        let data = [b'a'; 95];
        // A hundred bytes each.
        let three = [chunk(&data), chunk(&data), chunk(&data)].concat();
        assert_eq!(end_of_write(&three, 1000), 9);
        assert_eq!(end_of_write(&three, 300), 9);
        assert_eq!(end_of_write(&three, 299), 6);
        assert_eq!(end_of_write(&three, 150), 3);
        assert_eq!(end_of_write(&three, 10), 3, "a chunk that is too long goes by itself");
        assert_eq!(end_of_write(&three, 0), 3);
    }

    #[test]
    fn a_chunk_of_which_the_end_is_not_there_goes_with_nothing_before_it() {
        let data = [b'a'; 95];
        let begun = [&chunk(&data)[..], &chunk(&data)[..2]].concat();
        assert_eq!(end_of_write(&begun, 1000), 3);
        assert_eq!(end_of_write(&begun[3..], 1000), 2);
    }

    #[test]
    fn the_end_of_the_body_goes_with_the_last_chunk() {
        let data = [b'a'; 95];
        let mut answer = [chunk(&data), chunk(&data)].concat();
        answer[5] = IoSlice::new(BODY_END);
        assert_eq!(end_of_write(&answer, 1000), 6);
        assert_eq!(end_of_write(&answer, 100), 3);
        assert_eq!(end_of_write(&answer[3..], 100), 3);
    }

    #[test]
    fn a_head_goes_with_the_first_chunk() {
        let data = [b'a'; 95];
        let answer = [&[IoSlice::new(b"HTTP/1.1 200 OK\r\n\r\n")][..], &chunk(&data)[..]].concat();
        assert_eq!(end_of_write(&answer, 0), 4);
        assert_eq!(end_of_write(&answer, 1000), 4);
    }
}
