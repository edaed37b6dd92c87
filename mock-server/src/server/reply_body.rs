//! The body of an answer: the one place where frames are handed to the connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::delivery::{Endings, Tracker};
use super::steps::Steps;
use crate::journal::Delivery;

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
    /// A stream of frames, none of which the [socket](super::socket) writes in parts.
    Frames(std::vec::IntoIter<Bytes>),
    /// What a fault has planned; the socket writes each of its parts by itself.
    Steps(Steps),
}

impl ReplyBody {
    /// Bytes of a known length.
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self { content: Content::Whole(Some(bytes)), tracked: None }
    }

    /// A stream of frames, each written whole.
    pub(super) fn frames(frames: Vec<Bytes>) -> Self {
        Self { content: Content::Frames(frames.into_iter()), tracked: None }
    }

    /// What a fault has planned.
    pub(super) fn steps(steps: Steps) -> Self {
        Self { content: Content::Steps(steps), tracked: None }
    }

    /// Notes in the journal how far this body gets on its connection.
    pub(super) fn tracked(self, tracker: Tracker, endings: Endings) -> Self {
        // A fault may be about where writes end.
        endings.write_apart(matches!(self.content, Content::Steps(_)));
        Self { tracked: Some((tracker, endings)), ..self }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = match &mut self.content {
            Content::Whole(bytes) => bytes.take(),
            Content::Frames(rest) => rest.next(),
            Content::Steps(steps) => match steps.poll_next(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending => {
                    // A step that ends the connection is the last to be done.
                    if steps.has_hung_up() {
                        self.ends(Delivery::Cut);
                    }
                    return Poll::Pending;
                }
            },
        };
        if self.is_end_stream() {
            let delivery = match &self.content {
                Content::Whole(_) | Content::Frames(_) => Delivery::Complete,
                Content::Steps(steps) => steps.end(),
            };
            self.ends(delivery);
        }
        Poll::Ready(frame.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.is_none(),
            Content::Frames(rest) => rest.as_slice().is_empty(),
            Content::Steps(steps) => steps.is_done(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Frames(_) => SizeHint::default(),
            Content::Steps(steps) => {
                steps.length().map_or_else(SizeHint::default, SizeHint::with_exact)
            }
        }
    }
}

impl ReplyBody {
    /// All bytes are with the connection; written, they are as much as this.
    fn ends(&mut self, delivery: Delivery) {
        if let Some((mut tracker, endings)) = self.tracked.take() {
            tracker.ends_as(delivery);
            endings.add(tracker);
        }
    }
}
