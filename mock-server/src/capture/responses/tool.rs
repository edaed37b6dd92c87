//! Offered tools.

use serde_json::Value;

use crate::capture::collector::{Collector, Origin};
use crate::capture::segment::{OfferedTool, SegmentKind};

/// What a tool type looks like.
enum Shape {
    /// A name, a description and a definition in this field.
    Named(&'static str),
    /// A group of tools.
    Namespace,
    /// A tool without a name of its own, known by its type.
    Hosted,
}

fn shape(tool_type: &str) -> Option<Shape> {
    Some(match tool_type {
        "function" => Shape::Named("parameters"),
        "custom" => Shape::Named("format"),
        "namespace" => Shape::Namespace,
        "web_search"
        | "web_search_2025_08_26"
        | "web_search_preview"
        | "web_search_preview_2025_03_11"
        | "tool_search"
        | "local_shell"
        | "shell"
        | "apply_patch"
        | "file_search"
        | "computer"
        | "computer_use"
        | "computer_use_preview"
        | "mcp"
        | "code_interpreter"
        | "image_generation"
        | "programmatic_tool_calling" => Shape::Hosted,
        _ => return None,
    })
}

/// The tools that one definition offers: itself, or those of a namespace.
pub(super) fn offered(tool: &Value) -> Vec<OfferedTool> {
    if tool_type(tool) != Some("namespace") {
        return named(tool, None).into_iter().collect();
    }
    let namespace = tool.get("name").and_then(Value::as_str);
    let tools = tool.get("tools").and_then(Value::as_array).into_iter().flatten();
    tools.filter_map(|tool| named(tool, namespace)).collect()
}

fn named(tool: &Value, namespace: Option<&str>) -> Option<OfferedTool> {
    let name = match shape(tool_type(tool)?) {
        Some(Shape::Hosted) => tool.get("name").and_then(Value::as_str).or_else(|| tool_type(tool)),
        Some(Shape::Named(_) | Shape::Namespace) | None => tool.get("name").and_then(Value::as_str),
    }?;
    Some(OfferedTool { namespace: namespace.map(str::to_owned), name: name.to_owned() })
}

/// Adds a list of tools.
pub(super) fn capture_list(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    tools: &Value,
) {
    let Value::Array(tools) = tools else {
        collector.wrong_type(pointer, tools);
        return;
    };
    for (index, tool) in tools.iter().enumerate() {
        collector.offer(offered(tool));
        capture(collector, &format!("{pointer}/{index}"), origin, tool);
    }
}

fn capture(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, tool: &Value) {
    let Some(native_type) = tool_type(tool) else {
        collector.unknown(pointer, "(no type)");
        collector.value(pointer, origin, SegmentKind::ToolDefinition, tool);
        return;
    };
    let name = tool.get("name").and_then(Value::as_str);
    let origin = Origin { native_type, tool: name.or(Some(native_type)), ..*origin };
    let kind = SegmentKind::ToolDefinition;
    match shape(native_type) {
        Some(Shape::Named(definition)) if name.is_some() => {
            collector.segment(pointer, &origin, kind, text(tool, definition));
        }
        Some(Shape::Named(_)) => {
            collector.unknown(pointer, format!("({native_type} without name)"));
            collector.value(pointer, &origin, kind, tool);
        }
        Some(Shape::Namespace) => namespace(collector, pointer, &origin, tool),
        Some(Shape::Hosted) => collector.value(pointer, &origin, kind, tool),
        None => {
            collector.unknown(format!("{pointer}/type"), native_type);
            collector.value(pointer, &origin, kind, tool);
        }
    }
}

fn namespace(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, tool: &Value) {
    if let Some(description @ Value::String(_)) = tool.get("description") {
        let at = format!("{pointer}/description");
        collector.value(at, origin, SegmentKind::ToolDefinition, description);
    }
    let at = format!("{pointer}/tools");
    match tool.get("tools") {
        Some(Value::Array(tools)) => {
            for (index, tool) in tools.iter().enumerate() {
                capture(collector, &format!("{at}/{index}"), origin, tool);
            }
        }
        Some(other) => collector.wrong_type(at, other),
        None => collector.unknown(pointer, "(no tools)"),
    }
}

/// What a model reads of a tool: its description, then its definition as compact JSON.
fn text(tool: &Value, definition: &str) -> String {
    let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    match tool.get(definition) {
        None | Some(Value::Null) => description.to_owned(),
        Some(definition) if description.is_empty() => definition.to_string(),
        Some(definition) => format!("{description}\n{definition}"),
    }
}

fn tool_type(tool: &Value) -> Option<&str> {
    tool.get("type").and_then(Value::as_str)
}
