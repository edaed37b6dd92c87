//! Offered tools.

use serde_json::Value;

use crate::capture::collector::{Collector, Origin};
use crate::capture::definition;
use crate::capture::segment::{OfferedTool, SegmentKind};

/// How the types of the API's own tools begin; a date follows.
const TYPED: [&str; 11] = [
    "advisor_",
    "bash_",
    "code_execution_",
    "computer_",
    "mcp_toolset",
    "memory_",
    "text_editor_",
    "tool_search_tool_",
    "toolset_",
    "web_fetch_",
    "web_search_",
];

/// The tools that a body offers.
pub(super) fn offered(body: &Value) -> Vec<OfferedTool> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    tools.filter_map(definition::offered).collect()
}

/// Adds the tools of a body.
pub(super) fn capture(collector: &mut Collector, body: &Value) {
    collector.offer(offered(body));
    match body.get("tools") {
        None | Some(Value::Null) => {}
        Some(Value::Array(tools)) => {
            for (index, value) in tools.iter().enumerate() {
                tool(collector, &format!("/tools/{index}"), value);
            }
        }
        Some(other) => collector.wrong_type("/tools", other),
    }
}

fn tool(collector: &mut Collector, pointer: &str, tool: &Value) {
    let native_type = match tool.get("type") {
        // A tool of the client's own may leave its type out.
        None | Some(Value::Null) => "custom",
        Some(Value::String(native_type)) => native_type,
        Some(other) => {
            collector.wrong_type(format!("{pointer}/type"), other);
            collector.value(pointer, &Origin::tools(), SegmentKind::ToolDefinition, tool);
            return;
        }
    };
    let origin = Origin { native_type, ..Origin::tools() };
    if native_type == "custom" {
        definition::capture(collector, pointer, &origin, tool, "input_schema");
        return;
    }
    if !TYPED.iter().any(|start| native_type.starts_with(start)) {
        collector.unknown(format!("{pointer}/type"), native_type);
    }
    let name = tool.get("name").and_then(Value::as_str);
    let origin = Origin { tool: name.or(Some(native_type)), ..origin };
    collector.value(pointer, &origin, SegmentKind::ToolDefinition, tool);
}
