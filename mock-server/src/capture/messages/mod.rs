//! Segments of a Messages request: `system`, then `messages`, then `tools`.

mod block;
mod document;
mod message;
mod tool;

use serde_json::Value;

use super::collector::{Collector, Origin};
use super::segment::{Authority, Capture, OfferedTool, SegmentKind};
use crate::wire::Wire;

/// The segments of a request body.
pub(super) fn capture(body: &Value) -> Capture {
    let mut collector = Collector::default();
    system(&mut collector, body);
    match body.get("messages") {
        None | Some(Value::Null) => {}
        Some(Value::Array(messages)) => {
            for (index, value) in messages.iter().enumerate() {
                message::capture(&mut collector, index, value);
            }
        }
        Some(other) => collector.wrong_type("/messages", other),
    }
    tool::capture(&mut collector, body);
    collector.finish(Wire::Messages)
}

/// The tools that a request body offers.
pub(super) fn offered_tools(body: &Value) -> Vec<OfferedTool> {
    tool::offered(body)
}

fn system(collector: &mut Collector, body: &Value) {
    let origin = Origin { role: "system", ..Origin::top("system", Authority::System) };
    match body.get("system") {
        None | Some(Value::Null) => {}
        Some(Value::Array(blocks)) => {
            for (index, value) in blocks.iter().enumerate() {
                let at = format!("/system/{index}");
                block::content_block(collector, &at, &origin, SegmentKind::Text, value);
            }
        }
        Some(other) => super::part::text(collector, "/system", &origin, SegmentKind::Text, other),
    }
}

#[cfg(test)]
mod tests;
