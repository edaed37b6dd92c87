//! The body of an answer: the one place where frames are handed to the connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::delivery::{Endings, Tracker};

/// The body of an answer.
#[derive(Debug)]
pub(super) struct ReplyBody {
    content: Content,
    tracked: Option<(Tracker, Endings)>,
}

#[derive(Debug)]
enum Content {
    /// Bytes of a known length.
    Whole(Option<Bytes>),
    /// A stream of frames, each of which the [socket](super::socket) writes by itself.
    Frames(std::vec::IntoIter<Bytes>),
}

impl ReplyBody {
    /// Bytes of a known length.
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self { content: Content::Whole(Some(bytes)), tracked: None }
    }

    /// A stream of frames, each written by itself.
    pub(super) fn frames(frames: Vec<Bytes>) -> Self {
        Self { content: Content::Frames(frames.into_iter()), tracked: None }
    }

    /// Notes in the journal how far this body gets on its connection.
    pub(super) fn tracked(self, tracker: Tracker, endings: Endings) -> Self {
        Self { tracked: Some((tracker, endings)), ..self }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = match &mut self.content {
            Content::Whole(bytes) => bytes.take(),
            Content::Frames(rest) => rest.next(),
        };
        if self.is_end_stream()
            && let Some((tracker, endings)) = self.tracked.take()
        {
            endings.add(tracker);
        }
        Poll::Ready(frame.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.is_none(),
            Content::Frames(rest) => rest.as_slice().is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Frames(_) => SizeHint::default(),
        }
    }
}
