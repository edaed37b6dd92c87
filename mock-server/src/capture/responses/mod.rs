//! Segments of a Responses request: `instructions`, then `input`, then `tools`.

mod content;
mod item;
mod tool;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::collector::{Collector, Origin};
use super::segment::{Authority, Capture, OfferedTool, SegmentKind};
use crate::wire::Wire;

/// The segments of a request body.
pub(super) fn capture(body: &Value) -> Capture {
    let mut collector = Collector::default();
    instructions(&mut collector, body);
    input(&mut collector, body);
    tools(&mut collector, body);
    collector.finish(Wire::Responses)
}

/// The tools that a request body offers, in `tools` or in an input item.
pub(super) fn offered_tools(body: &Value) -> Vec<OfferedTool> {
    let lists = item::tool_lists(body).chain(body.get("tools").and_then(Value::as_array));
    lists.flatten().flat_map(tool::offered).collect()
}

fn instructions(collector: &mut Collector, body: &Value) {
    match body.get("instructions") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => {
            let origin = Origin::top("instructions", Authority::Instructions);
            collector.segment("/instructions", &origin, SegmentKind::Text, text);
        }
        Some(other) => collector.wrong_type("/instructions", other),
    }
}

fn input(collector: &mut Collector, body: &Value) {
    match body.get("input") {
        None | Some(Value::Null) => {}
        // A plain string is one user message.
        Some(Value::String(text)) => {
            let origin = Origin { item: Some(0), ..Origin::top("input", Authority::User) };
            collector.segment("/input", &origin, SegmentKind::Text, text);
        }
        Some(Value::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                item::capture(collector, index, value);
            }
        }
        Some(other) => collector.wrong_type("/input", other),
    }
}

fn tools(collector: &mut Collector, body: &Value) {
    match body.get("tools") {
        None | Some(Value::Null) => {}
        Some(tools) => tool::capture_list(collector, "/tools", &Origin::tools(), tools),
    }
}
