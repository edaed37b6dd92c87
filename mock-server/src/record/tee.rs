//! A body that is passed on as it comes, with a copy kept.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// The most that is kept of one reply.
const LIMIT: usize = 64 * 1024 * 1024;

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// Whole: these are its bytes.
    Whole(Vec<u8>),
    /// Before its end, or too long to be kept.
    Lost(&'static str),
}

type Heard = Box<dyn FnOnce(End) + Send + Sync>;

/// Passes a body on; tells `heard` how it ended, once.
pub(super) struct Tee {
    inner: Incoming,
    copy: Vec<u8>,
    is_too_long: bool,
    heard: Option<Heard>,
}

impl Tee {
    pub(super) fn new(inner: Incoming, heard: impl FnOnce(End) + Send + Sync + 'static) -> Self {
        Self { inner, copy: Vec::new(), is_too_long: false, heard: Some(Box::new(heard)) }
    }

    fn keep(&mut self, bytes: &Bytes) {
        if self.copy.len() + bytes.len() > LIMIT {
            self.is_too_long = true;
            self.copy = Vec::new();
        }
        if !self.is_too_long {
            self.copy.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, end: impl FnOnce(Vec<u8>) -> End) {
        if let Some(heard) = self.heard.take() {
            let copy = std::mem::take(&mut self.copy);
            heard(if self.is_too_long { End::Lost("it is too long") } else { end(copy) });
        }
    }
}

impl Body for Tee {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    self.keep(bytes);
                }
                // A body of a known length is not asked again after its last byte.
                if self.inner.is_end_stream() {
                    self.end(End::Whole);
                }
            }
            Some(Err(_)) => self.end(|_| End::Lost("the service broke off")),
            None => self.end(End::Whole),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        if self.inner.is_end_stream() {
            self.end(End::Whole);
        } else {
            self.end(|_| End::Lost("the client went away before its end"));
        }
    }
}
