//! How far answers get, for the journal.

use std::sync::atomic::{AtomicBool, Ordering};
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

    /// Notes that a fault ends the answer here: nothing more of it will be written.
    pub(super) fn cut(mut self) {
        self.end = Delivery::Cut;
        self.note();
        self.written = true;
    }

    /// Notes that all bytes are about to be written.
    pub(super) fn note(&mut self) {
        if !std::mem::replace(&mut self.noted, true) {
            self.journal.set_delivery(self.exchange, self.end);
        }
    }

    /// All bytes are written.
    pub(super) fn written(mut self) {
        self.note();
        self.written = true;
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
/// written, and how they are written.
#[derive(Debug, Clone, Default)]
pub(super) struct Endings {
    waiting: Arc<Mutex<Vec<Tracker>>>,
    apart: Arc<AtomicBool>,
}

impl Endings {
    /// Says whether each chunk of the answer that begins is a write of its own.
    pub(super) fn write_apart(&self, apart: bool) {
        self.apart.store(apart, Ordering::Release);
    }

    /// Whether each chunk is a write of its own.
    pub(super) fn are_apart(&self) -> bool {
        self.apart.load(Ordering::Acquire)
    }

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
        self.lock().drain(..).for_each(Tracker::written);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Tracker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
