//! How far answers get, for the journal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::journal::{Delivery, Journal};

/// Follows the answer to one exchange. Dropped before the answer was written to its end, it notes
/// that the answer was abandoned.
#[derive(Debug)]
pub(super) struct Tracker {
    journal: Journal,
    exchange: u64,
    /// How far the answer gets when all its bytes are written.
    end: Delivery,
    noted: bool,
    written: bool,
}

impl Tracker {
    /// A tracker for an exchange that is in the journal as pending.
    pub(super) fn new(journal: &Journal, exchange: u64) -> Self {
        Self {
            journal: journal.clone(),
            exchange,
            end: Delivery::Complete,
            noted: false,
            written: false,
        }
    }

    /// The exchange's number in the journal.
    pub(super) fn exchange(&self) -> u64 {
        self.exchange
    }

    /// Says how far the answer gets when all its bytes are written, if that is not its end.
    pub(super) fn ends_as(&mut self, end: Delivery) {
        self.end = end;
    }

    /// Notes that nothing of the answer will be written, since a fault ends the connection first.
    pub(super) fn cut(mut self) {
        self.end = Delivery::Cut;
        self.note();
        self.written = true;
    }

    fn note(&mut self) {
        if !std::mem::replace(&mut self.noted, true) {
            self.journal.set_delivery(self.exchange, self.end);
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        if !self.written {
            self.journal.set_delivery(self.exchange, Delivery::Abandoned);
        }
    }
}

/// The answers of one connection whose last bytes are with the connection but perhaps not yet
/// written.
#[derive(Debug, Clone, Default)]
pub(super) struct Endings {
    waiting: Arc<Mutex<Vec<Tracker>>>,
}

impl Endings {
    /// Adds an answer of which all bytes are with the connection.
    pub(super) fn add(&self, tracker: Tracker) {
        self.lock().push(tracker);
    }

    /// All bytes are about to be written. The journal says so first, since a client that has seen
    /// the end may ask the journal at once.
    pub(super) fn about_to_be_written(&self) {
        self.lock().iter_mut().for_each(Tracker::note);
    }

    /// All bytes are written. If that never comes, the answers were abandoned after all.
    pub(super) fn written(&self) {
        for mut tracker in self.lock().drain(..) {
            tracker.note();
            tracker.written = true;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Tracker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
