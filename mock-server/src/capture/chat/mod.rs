//! Segments of a Chat Completions request: `messages`, then `tools`, then the older `functions`.

mod content;
mod message;
mod tool;

use serde_json::Value;

use super::collector::Collector;
use super::segment::{Capture, OfferedTool};
use crate::wire::Wire;

/// The segments of a request body.
pub(super) fn capture(body: &Value) -> Capture {
    let mut collector = Collector::default();
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
    collector.finish(Wire::Chat)
}

/// The tools that a request body offers.
pub(super) fn offered_tools(body: &Value) -> Vec<OfferedTool> {
    tool::offered(body)
}

#[cfg(test)]
mod tests;
