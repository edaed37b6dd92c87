//! Attempts, and the chains of attempts at one question.

use std::time::Duration;

use serde_json::Value;

use crate::capture::{Authority, Capture, SegmentKind, capture};
use crate::journal::{Delivery, Exchange, ModelExchange, Outcome, Route};

/// A request to a model endpoint that could be read.
#[derive(Debug)]
pub(super) struct Attempt<'e> {
    pub(super) number: u64,
    pub(super) received: Duration,
    pub(super) model: &'e ModelExchange,
    pub(super) capture: Capture,
    /// Whether the body stands for itself, and names no response before it.
    pub(super) is_whole: bool,
}

/// What tells one question from another: the conversation, without ids and settings.
pub(super) type Part<'a> = (Authority, SegmentKind, Option<&'a str>, &'a str);

impl<'e> Attempt<'e> {
    pub(super) fn of(exchange: &'e Exchange) -> Option<Self> {
        let Route::Model(model) = &exchange.route else { return None };
        let body = model.effective.as_ref().or(model.json.as_ref())?;
        let previous = model.json.as_ref().and_then(|json| json.get("previous_response_id"));
        let is_whole = previous.is_none_or(Value::is_null);
        let (number, received) = (exchange.number, exchange.received);
        Some(Self { number, received, model, capture: capture(model.wire, body), is_whole })
    }

    /// The conversation, in order.
    pub(super) fn question(&self) -> impl Iterator<Item = Part<'_>> {
        let segments = self.capture.segments.iter();
        segments.filter(|segment| segment.kind != SegmentKind::ToolDefinition).map(|segment| {
            let call_id = segment.call_id.as_deref();
            (segment.authority, segment.kind, call_id, segment.text.as_str())
        })
    }

    /// The status that the client got.
    pub(super) fn status(&self) -> u16 {
        match (&self.model.answer, &self.model.outcome) {
            (Some(answer), _) => answer.status,
            (None, Outcome::Served(_) | Outcome::SideDefault) => 200,
            (None, Outcome::Refused(refusal)) => refusal.status,
            (None, _) => 400,
        }
    }

    /// Whether the server accepted it.
    pub(super) fn is_accepted(&self) -> bool {
        self.status() < 400
    }

    /// Whether the client has reason to try again.
    pub(super) fn has_failed(&self) -> bool {
        !self.is_accepted() || self.model.delivery == Delivery::Cut
    }

    /// How long the client was asked to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.model.answer.and_then(|answer| answer.retry_after)
    }

    fn asks_the_same(&self, other: &Self) -> bool {
        self.model.purpose == other.model.purpose
            && self.previous() == other.previous()
            && self.question().eq(other.question())
    }

    fn previous(&self) -> Option<&Value> {
        self.model.json.as_ref()?.get("previous_response_id").filter(|previous| !previous.is_null())
    }
}

/// The attempts at one question, in order.
pub(super) type Chain<'a, 'e> = Vec<&'a Attempt<'e>>;

/// All attempts, by the question that they ask.
pub(super) fn chains<'a, 'e>(attempts: &'a [Attempt<'e>]) -> Vec<Chain<'a, 'e>> {
    let mut chains: Vec<Chain<'a, 'e>> = Vec::new();
    for attempt in attempts {
        match chains.iter_mut().find(|chain| chain[0].asks_the_same(attempt)) {
            Some(chain) => chain.push(attempt),
            None => chains.push(vec![attempt]),
        }
    }
    chains
}

/// The pairs of a failed attempt and the one after it.
pub(super) fn retries<'c, 'a, 'e>(
    chain: &'c Chain<'a, 'e>,
) -> impl Iterator<Item = (&'a Attempt<'e>, &'a Attempt<'e>)> + use<'c, 'a, 'e> {
    chain.windows(2).map(|pair| (pair[0], pair[1])).filter(|(failed, _)| failed.has_failed())
}
