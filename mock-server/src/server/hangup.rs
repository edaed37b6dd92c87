//! Ending a connection in the middle of an answer.
//!
//! HTTP has no way to say it, so the answer asks the socket under it: once everything before has
//! been written, the socket fails, and the connection ends with it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::script::CutHow;

/// A stream that can be reset.
pub(super) trait Resettable: AsyncRead + AsyncWrite + Unpin {
    /// Has the stream send RST and forget what is unsent when it is dropped.
    fn reset_on_drop(&self) -> io::Result<()>;
}

impl Resettable for TcpStream {
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
    /// Ends the connection after what is written so far. Whoever asks must write nothing more, and
    /// wait: the HTTP layer flushes then.
    pub(super) fn ask(&self, how: CutHow) {
        let asked = match how {
            CutHow::End => STAY,
            CutHow::Close => CLOSE,
            CutHow::Reset => RESET,
        };
        self.asked.store(asked, Ordering::Release);
    }

    /// Called when everything is written.
    ///
    /// # Errors
    /// When the end was asked for: the HTTP layer then drops the stream.
    pub(super) fn obey(&self, stream: &impl Resettable) -> io::Result<()> {
        match self.asked.load(Ordering::Acquire) {
            STAY => return Ok(()),
            // A stream that cannot be reset is dead already.
            RESET => stream.reset_on_drop()?,
            _ => {}
        }
        Err(io::Error::other("the script ends the connection here"))
    }
}
