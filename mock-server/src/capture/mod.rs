//! The projection of a request onto segments: every piece of text with its place and authority.

mod chat;
mod collector;
mod definition;
mod messages;
mod part;
mod responses;
mod role;
mod segment;
#[cfg(test)]
mod testing;

pub use segment::{Authority, Capture, OfferedTool, Segment, SegmentKind, UnknownPart};

use serde_json::Value;

use crate::wire::Wire;

/// Projects a request body of the given wire onto its segments.
///
/// Never fails: what the wire does not define is listed in [`Capture::unknown`].
pub fn capture(wire: Wire, body: &Value) -> Capture {
    match wire {
        Wire::Responses => responses::capture(body),
        Wire::Chat => chat::capture(body),
        Wire::Messages => messages::capture(body),
    }
}

/// The tools that a request body of the given wire offers, wherever it offers them.
pub fn offered_tools(wire: Wire, body: &Value) -> Vec<OfferedTool> {
    match wire {
        Wire::Responses => responses::offered_tools(body),
        Wire::Chat => chat::offered_tools(body),
        Wire::Messages => messages::offered_tools(body),
    }
}
