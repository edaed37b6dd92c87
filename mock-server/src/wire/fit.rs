//! Whether a reply can be carried by a wire at all: nothing of a script is left out in silence.

use crate::script::{Ending, Item, Reply};

use super::{Request, Wire};

/// Why an answer cannot be written as the script has it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unfit(pub(crate) String);

impl Unfit {
    /// An answer that does not fit, for this reason.
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Checks that the reply can answer the request.
///
/// # Errors
/// What it holds that the wire, or an answer in this form, has no place for.
pub(super) fn check(request: &Request<'_>, reply: &Reply) -> Result<(), Unfit> {
    let wire = request.wire();
    for item in &reply.items {
        if let Some(what) = without_place(wire, item) {
            return Err(Unfit(format!("the {wire} wire has no place for {what}")));
        }
    }
    let streamed = request.wants_stream();
    match (&reply.ending, wire) {
        (Ending::StopSequence(_), Wire::Responses) => {
            return Err(Unfit::because("the responses wire has no stop sequences"));
        }
        (Ending::Error { .. }, _) | (Ending::Failed(_), Wire::Chat | Wire::Messages)
            if !streamed =>
        {
            return Err(Unfit::because(
                "a reply that is no stream cannot fail after it has begun; use the fault `status`",
            ));
        }
        _ => {}
    }
    if reply.end_turn.is_some() && wire != Wire::Responses {
        return Err(Unfit(format!("the {wire} wire has no `end_turn`")));
    }
    if !reply.extra_events.is_empty() && (wire != Wire::Responses || !streamed) {
        return Err(Unfit::because("extra events need a stream on the responses wire"));
    }
    Ok(())
}

fn without_place(wire: Wire, item: &Item) -> Option<&'static str> {
    match (wire, item) {
        (Wire::Chat | Wire::Messages, Item::LocalShell(_)) => Some("a local shell call"),
        (Wire::Chat | Wire::Messages, Item::Compaction { .. }) => Some("a compaction item"),
        (Wire::Chat, Item::WebSearch(_)) => Some("a web search"),
        (Wire::Chat, Item::Raw(_)) => Some("a raw item"),
        _ => None,
    }
}
