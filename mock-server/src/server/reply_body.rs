//! The body of an answer: the one place where frames are handed to the connection.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::steps::Steps;
use crate::journal::{Delivery, Journal};

/// The body of an answer.
#[derive(Debug)]
pub(super) struct ReplyBody {
    content: Content,
    tracker: Option<Tracker>,
}

#[derive(Debug)]
enum Content {
    /// Bytes of a known length.
    Whole(Option<Bytes>),
    /// A stream of frames. After each one the connection gets the time to write it, so that each
    /// frame is one write: some clients lose an event whose end comes with a later read.
    Frames { rest: std::vec::IntoIter<Bytes>, written: bool },
    /// What a fault has planned.
    Steps(Steps),
}

impl ReplyBody {
    /// Bytes of a known length.
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self { content: Content::Whole(Some(bytes)), tracker: None }
    }

    /// A stream of frames, each written by itself.
    pub(super) fn frames(frames: Vec<Bytes>) -> Self {
        Self { content: Content::Frames { rest: frames.into_iter(), written: true }, tracker: None }
    }

    /// What a fault has planned.
    pub(super) fn steps(steps: Steps) -> Self {
        Self { content: Content::Steps(steps), tracker: None }
    }

    /// Notes in the journal how far this body gets.
    pub(super) fn tracked(self, tracker: Tracker) -> Self {
        Self { tracker: Some(tracker), ..self }
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
            Content::Frames { rest, written } => {
                if !std::mem::replace(written, true) {
                    return yield_to_connection(context);
                }
                *written = false;
                rest.next()
            }
            Content::Steps(steps) => match steps.poll_next(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending => {
                    // A step that ends the connection is the last to be done.
                    if steps.has_hung_up() {
                        self.ended(Delivery::Cut);
                    }
                    return Poll::Pending;
                }
            },
        };
        if self.is_end_stream() {
            let delivery = match &self.content {
                Content::Whole(_) | Content::Frames { .. } => Delivery::Complete,
                Content::Steps(steps) => steps.end(),
            };
            self.ended(delivery);
        }
        Poll::Ready(frame.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.is_none(),
            Content::Frames { rest, .. } => rest.as_slice().is_empty(),
            Content::Steps(steps) => steps.is_done(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Frames { .. } => SizeHint::default(),
            Content::Steps(steps) => {
                steps.length().map_or_else(SizeHint::default, SizeHint::with_exact)
            }
        }
    }
}

impl ReplyBody {
    fn ended(&mut self, delivery: Delivery) {
        if let Some(tracker) = &mut self.tracker {
            tracker.ended(delivery);
        }
    }
}

/// Lets the connection write, and has the body asked again after that.
///
/// The runtime's own yield wakes a task once its worker has looked at the sockets; waking it at
/// once would make idle workers fight for it.
pub(super) fn yield_to_connection<T>(context: &mut Context<'_>) -> Poll<T> {
    // Polled once and dropped: the wake-up is registered then.
    match pin!(tokio::task::yield_now()).poll(context) {
        Poll::Pending => {}
        Poll::Ready(()) => context.waker().wake_by_ref(),
    }
    Poll::Pending
}

/// Notes how far the answer to one exchange gets. Dropped before the end, it was abandoned.
#[derive(Debug)]
pub(super) struct Tracker {
    journal: Journal,
    exchange: u64,
    ended: bool,
}

impl Tracker {
    /// A tracker for an exchange that is in the journal as pending.
    pub(super) fn new(journal: &Journal, exchange: u64) -> Self {
        Self { journal: journal.clone(), exchange, ended: false }
    }

    /// The exchange's number in the journal.
    pub(super) fn exchange(&self) -> u64 {
        self.exchange
    }

    /// Notes how far the answer got; what comes after it is no news.
    pub(super) fn ended(&mut self, delivery: Delivery) {
        if !std::mem::replace(&mut self.ended, true) {
            self.journal.set_delivery(self.exchange, delivery);
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        self.ended(Delivery::Abandoned);
    }
}
