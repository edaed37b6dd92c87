//! Ending a connection in the middle of an answer.
//!
//! HTTP has no way to say it, so the answer asks the socket under it: once everything before has
//! been written, the socket fails, and the connection ends with it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::script::CutHow;

/// A socket that can be reset.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin {
    /// Has the socket send RST and forget what is unsent when it is dropped.
    fn reset_on_drop(&self) -> io::Result<()>;
}

impl Socket for TcpStream {
    fn reset_on_drop(&self) -> io::Result<()> {
        self.set_zero_linger()
    }
}

/// Asks for the end of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct HangUp {
    asked: Arc<AtomicU8>,
}

const STAY: u8 = 0;
const CLOSE: u8 = 1;
const RESET: u8 = 2;

impl HangUp {
    /// Ends the connection after what is written so far. Whoever asks must write nothing more.
    pub(super) fn ask(&self, how: CutHow) {
        let asked = match how {
            CutHow::End => STAY,
            CutHow::Close => CLOSE,
            CutHow::Reset => RESET,
        };
        self.asked.store(asked, Ordering::Release);
    }
}

/// A socket that ends when it is asked to.
#[derive(Debug)]
pub(super) struct EndingSocket<S> {
    socket: S,
    hang_up: HangUp,
}

impl<S: Socket> EndingSocket<S> {
    pub(super) fn new(socket: S, hang_up: HangUp) -> Self {
        Self { socket, hang_up }
    }
}

impl<S: Socket> AsyncRead for EndingSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl<S: Socket> AsyncWrite for EndingSocket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// The connection flushes the socket only when its own buffer is empty, and after each time it
    /// has asked the answer for more: everything before the end has been written by then.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.hang_up.asked.load(Ordering::Acquire) {
            STAY => return Pin::new(&mut self.socket).poll_flush(context),
            // A socket that cannot be reset is dead already.
            RESET => self.socket.reset_on_drop()?,
            _ => {}
        }
        Poll::Ready(Err(io::Error::other("the script ends the connection here")))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
