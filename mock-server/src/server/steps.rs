//! Playing what a fault has planned: writes, waits, the end of the connection.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::hangup::HangUp;
use crate::fault::Step;
use crate::gate::Gates;
use crate::journal::Delivery;
use crate::script::Pause;

/// A body that is given step by step.
pub(super) struct Steps {
    rest: std::vec::IntoIter<Step>,
    waiting: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    hung_up: bool,
    length: Option<u64>,
    end: Delivery,
    gates: Gates,
    hang_up: HangUp,
}

impl Steps {
    /// A body of these steps. `length` is what the head says, in bytes; `end` is how far the
    /// answer gets when all is done.
    pub(super) fn new(
        steps: Vec<Step>,
        length: Option<u64>,
        end: Delivery,
        gates: Gates,
        hang_up: HangUp,
    ) -> Self {
        Self { rest: steps.into_iter(), waiting: None, hung_up: false, length, end, gates, hang_up }
    }

    /// Whether the connection was asked to end.
    pub(super) fn has_hung_up(&self) -> bool {
        self.hung_up
    }

    /// Whether nothing is left to do.
    pub(super) fn is_done(&self) -> bool {
        self.rest.as_slice().is_empty() && self.waiting.is_none() && !self.hung_up
    }

    /// How far the answer gets when all is done.
    pub(super) fn end(&self) -> Delivery {
        self.end
    }

    /// How long the head says the body is, in bytes.
    pub(super) fn length(&self) -> Option<u64> {
        self.length
    }

    /// The next write.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                ready!(waiting.as_mut().poll(context));
                self.waiting = None;
            }
            if self.hung_up {
                return Poll::Pending;
            }
            match self.rest.next() {
                None => return Poll::Ready(None),
                Some(Step::Send(bytes)) => return Poll::Ready(Some(bytes)),
                Some(Step::Wait(pause)) => {
                    self.waiting = Some(Box::pin(wait(pause, self.gates.clone())));
                }
                Some(Step::HangUp(how)) => {
                    self.hung_up = true;
                    self.hang_up.ask(how);
                }
            }
        }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").field("rest", &self.rest).finish_non_exhaustive()
    }
}

/// Waits as a script says.
pub(super) async fn wait(pause: Pause, gates: Gates) {
    match pause {
        Pause::For(time) => tokio::time::sleep(time).await,
        Pause::Gate(gate) => gates.wait(&gate).await,
        Pause::Forever => std::future::pending().await,
    }
}
