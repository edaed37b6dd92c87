//! What happened, in figures.

use serde::Serialize;

use super::{Delivery, Exchange, Outcome, Route};

/// How many exchanges there were, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All exchanges.
    pub exchanges: u64,
    /// Of these, requests to a model endpoint.
    pub model: u64,
    /// Of the model requests, those that got a scripted turn.
    pub served: u64,
    /// Of the model requests, those that got the default reply of their purpose.
    pub side_default: u64,
    /// Of the model requests, those that got the HTTP error of a turn's fault.
    pub faulted: u64,
    /// Of the model requests, the rest: those that were refused.
    pub refused: u64,
    /// Of the model requests, those whose answer is waiting or being written.
    pub pending: u64,
    /// Of all exchanges, those that left memory and are kept in a file.
    pub spilled: u64,
    /// Of all exchanges, those that left memory and are gone.
    pub dropped: u64,
}

impl Counts {
    /// Counts an exchange that arrives.
    pub(super) fn arrived(&mut self, exchange: &Exchange) {
        self.exchanges += 1;
        let Route::Model(model) = &exchange.route else { return };
        self.model += 1;
        *self.of(&model.outcome) += 1;
        if model.delivery == Delivery::Pending {
            self.pending += 1;
        }
    }

    /// Counts a change of what was answered to a model request.
    pub(super) fn answered(&mut self, before: &Outcome, after: &Outcome) {
        *self.of(before) -= 1;
        *self.of(after) += 1;
    }

    fn of(&mut self, outcome: &Outcome) -> &mut u64 {
        match outcome {
            Outcome::Served(_) => &mut self.served,
            Outcome::SideDefault => &mut self.side_default,
            Outcome::Faulted { .. } => &mut self.faulted,
            _ => &mut self.refused,
        }
    }

    /// Counts a change of how far an answer got.
    pub(super) fn delivered(&mut self, before: Delivery, after: Delivery) {
        match (before == Delivery::Pending, after == Delivery::Pending) {
            (true, false) => self.pending -= 1,
            (false, true) => self.pending += 1,
            (true, true) | (false, false) => {}
        }
    }
}
