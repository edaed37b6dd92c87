//! Offered tools.

use serde_json::Value;

use crate::capture::collector::{Collector, Origin};
use crate::capture::definition;
use crate::capture::segment::{OfferedTool, SegmentKind};

/// The tools that a body offers.
pub(super) fn offered<'b>(body: &'b Value) -> Vec<OfferedTool> {
    let list = |field| body.get(field).and_then(Value::as_array).into_iter().flatten();
    let defined = |tool: &'b Value| match tool_type(tool)? {
        native_type @ ("function" | "custom") => tool.get(native_type),
        _ => None,
    };
    let tools = list("tools").filter_map(defined);
    tools.chain(list("functions")).filter_map(definition::offered).collect()
}

/// Adds the tools of a body.
pub(super) fn capture(collector: &mut Collector, body: &Value) {
    collector.offer(offered(body));
    for (field, capture) in [("tools", tool as fn(&mut _, &_, &_)), ("functions", function)] {
        match body.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::Array(tools)) => {
                for (index, tool) in tools.iter().enumerate() {
                    capture(collector, &format!("/{field}/{index}"), tool);
                }
            }
            Some(other) => collector.wrong_type(format!("/{field}"), other),
        }
    }
}

fn tool(collector: &mut Collector, pointer: &str, tool: &Value) {
    let Some(native_type) = tool_type(tool) else {
        collector.unknown(pointer, "(no type)");
        collector.value(pointer, &Origin::tools(), SegmentKind::ToolDefinition, tool);
        return;
    };
    let origin = Origin { native_type, tool: Some(native_type), ..Origin::tools() };
    let schema = match native_type {
        "function" => "parameters",
        "custom" => "format",
        _ => {
            collector.unknown(format!("{pointer}/type"), native_type);
            collector.value(pointer, &origin, SegmentKind::ToolDefinition, tool);
            return;
        }
    };
    if let Some(defined) = tool.get(native_type) {
        let at = format!("{pointer}/{native_type}");
        definition::capture(collector, &at, &origin, defined, schema);
    } else {
        collector.unknown(pointer, format!("(no {native_type})"));
        collector.value(pointer, &origin, SegmentKind::ToolDefinition, tool);
    }
}

fn function(collector: &mut Collector, pointer: &str, function: &Value) {
    let origin = Origin { native_type: "function", ..Origin::tools() };
    definition::capture(collector, pointer, &origin, function, "parameters");
}

fn tool_type(tool: &Value) -> Option<&str> {
    tool.get("type").and_then(Value::as_str)
}
