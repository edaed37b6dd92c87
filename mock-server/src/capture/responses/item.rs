//! Input items. The table of known types follows the public API's input item union, with those
//! that only some clients' own backends know.

use serde_json::Value;

use super::content;
use super::tool;
use crate::capture::collector::{Collector, Origin};
use crate::capture::segment::{Authority, SegmentKind};

/// What an item type means for the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `role` and `content`.
    Message,
    /// Another agent's message: `content` without a role.
    AgentMessage,
    /// A call that the client carries out; its payload is in this field.
    Call(&'static str),
    /// A call's result, in this field.
    Result(&'static str),
    Reasoning,
    Compaction,
    /// `tools` offered in the middle of the input.
    Tools,
    /// Known, but nothing in it is text that somebody says.
    Silent,
}

/// The shape of an item type; `None` for a type that the wire does not define.
fn shape(native_type: &str) -> Option<Shape> {
    Some(match native_type {
        "message" => Shape::Message,
        "agent_message" => Shape::AgentMessage,
        "function_call" | "tool_search_call" => Shape::Call("arguments"),
        "custom_tool_call" => Shape::Call("input"),
        "local_shell_call" | "shell_call" | "computer_call" => Shape::Call("action"),
        "apply_patch_call" => Shape::Call("operation"),
        "program" => Shape::Call("code"),
        "function_call_output"
        | "custom_tool_call_output"
        | "local_shell_call_output"
        | "shell_call_output"
        | "apply_patch_call_output"
        | "computer_call_output" => Shape::Result("output"),
        "program_output" => Shape::Result("result"),
        "reasoning" => Shape::Reasoning,
        "compaction" | "compaction_summary" | "context_compaction" => Shape::Compaction,
        "additional_tools" | "tool_search_output" => Shape::Tools,
        "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "mcp_list_tools"
        | "mcp_approval_request"
        | "mcp_approval_response"
        | "mcp_call"
        | "configuration_update"
        | "compaction_trigger"
        | "item_reference" => Shape::Silent,
        _ => return None,
    })
}

/// Adds the segments of the input item at `index`.
pub(super) fn capture(collector: &mut Collector, index: usize, value: &Value) {
    let pointer = format!("/input/{index}");
    if !value.is_object() {
        collector.wrong_type(pointer, value);
        return;
    }
    let (native_type, shape) = match value.get("type") {
        Some(Value::String(native_type)) => (native_type.as_str(), shape(native_type)),
        // The type may be left out of a message and of a reference.
        None if value.get("role").is_some() => ("message", Some(Shape::Message)),
        None if value.get("id").is_some() => ("item_reference", Some(Shape::Silent)),
        None => ("", None),
        Some(other) => {
            collector.wrong_type(format!("{pointer}/type"), other);
            return;
        }
    };
    let Some(shape) = shape else {
        unknown_item(collector, index, &pointer, native_type, value);
        return;
    };
    let origin = |authority| Origin::item(index, native_type, authority);
    let call_id = value.get("call_id").and_then(Value::as_str);
    match shape {
        Shape::Message => message(collector, index, &pointer, native_type, value),
        Shape::AgentMessage => {
            // What another agent says is data to the one that asks, as a tool's result is.
            content::message(collector, &pointer, &origin(Authority::Tool), value);
        }
        Shape::Call(field) => {
            let tool = value.get("name").and_then(Value::as_str);
            let origin = Origin { call_id, tool, ..origin(Authority::Assistant) };
            call(collector, &pointer, field, &origin, value);
        }
        Shape::Result(field) => {
            let origin = Origin { call_id, ..origin(Authority::Tool) };
            content::result(collector, &pointer, field, &origin, value);
        }
        Shape::Reasoning => reasoning(collector, &pointer, &origin(Authority::Assistant), value),
        Shape::Compaction => {
            let origin = origin(Authority::Assistant);
            opaque(collector, &pointer, &origin, SegmentKind::Compaction, value);
        }
        Shape::Tools => tools(collector, index, &pointer, native_type, value),
        Shape::Silent => {}
    }
}

/// The tool lists in input items.
pub(super) fn tool_lists(body: &Value) -> impl Iterator<Item = &Vec<Value>> {
    let items = body.get("input").and_then(Value::as_array).into_iter().flatten();
    items
        .filter(|item| {
            item.get("type").and_then(Value::as_str).and_then(shape) == Some(Shape::Tools)
        })
        .filter_map(|item| item.get("tools").and_then(Value::as_array))
}

/// Adds a message. Text under a role that the wire does not define is judged as a developer's: the
/// safe side, since a model may well obey it.
fn message(
    collector: &mut Collector,
    index: usize,
    pointer: &str,
    native_type: &str,
    value: &Value,
) {
    let (role, authority) = match value.get("role") {
        Some(Value::String(role)) => (role.as_str(), authority(role)),
        Some(other) => {
            collector.wrong_type(format!("{pointer}/role"), other);
            ("", Some(Authority::Developer))
        }
        None => {
            collector.unknown(pointer, "(no role)");
            ("", Some(Authority::Developer))
        }
    };
    if authority.is_none() {
        collector.unknown(format!("{pointer}/role"), role);
    }
    let authority = authority.unwrap_or(Authority::Developer);
    let origin = Origin { role, ..Origin::item(index, native_type, authority) };
    content::message(collector, pointer, &origin, value);
}

fn authority(role: &str) -> Option<Authority> {
    Some(match role {
        "user" => Authority::User,
        "assistant" => Authority::Assistant,
        "developer" => Authority::Developer,
        "system" => Authority::System,
        _ => return None,
    })
}

/// An item of a type that the wire does not define. If it looks like a message, its text is kept.
fn unknown_item(
    collector: &mut Collector,
    index: usize,
    pointer: &str,
    native_type: &str,
    value: &Value,
) {
    match value.get("type") {
        Some(_) => collector.unknown(format!("{pointer}/type"), native_type),
        None => collector.unknown(pointer, "(no type)"),
    }
    if value.get("content").is_some() {
        message(collector, index, pointer, native_type, value);
    }
}

/// Adds a call. A call without its payload is kept, or its result would look like an orphan.
fn call(collector: &mut Collector, pointer: &str, field: &str, origin: &Origin<'_>, value: &Value) {
    let Some(payload) = value.get(field) else {
        collector.unknown(pointer, format!("(no {field})"));
        collector.segment(pointer, origin, SegmentKind::Call, "");
        return;
    };
    let at = format!("{pointer}/{field}");
    let is_text = matches!(origin.native_type, "function_call" | "custom_tool_call");
    if is_text && !payload.is_string() {
        collector.wrong_type(&at, payload);
    }
    collector.value(at, origin, SegmentKind::Call, payload);
}

fn reasoning(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, value: &Value) {
    for (field, known) in [("summary", "summary_text"), ("content", "reasoning_text")] {
        match value.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::Array(parts)) => {
                for (index, part) in parts.iter().enumerate() {
                    let at = format!("{pointer}/{field}/{index}");
                    content::text_part(collector, &at, origin, SegmentKind::Reasoning, part, known);
                }
            }
            Some(other) => collector.wrong_type(format!("{pointer}/{field}"), other),
        }
    }
    opaque(collector, pointer, origin, SegmentKind::Reasoning, value);
}

fn opaque(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    match value.get("encrypted_content") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => {
            collector.segment(format!("{pointer}/encrypted_content"), origin, kind, text);
        }
        Some(other) => collector.wrong_type(format!("{pointer}/encrypted_content"), other),
    }
}

fn tools(collector: &mut Collector, index: usize, pointer: &str, native_type: &str, value: &Value) {
    let role = value.get("role").and_then(Value::as_str).unwrap_or_default();
    if !role.is_empty() && authority(role).is_none() {
        collector.unknown(format!("{pointer}/role"), role);
    }
    let call_id = value.get("call_id").and_then(Value::as_str);
    let origin =
        Origin { role, call_id, ..Origin::item(index, native_type, Authority::ToolDefinition) };
    if native_type == "tool_search_output" {
        // It answers a call, so it must count as a result even if it found nothing.
        let answer = Origin { authority: Authority::Tool, ..origin };
        collector.segment(pointer, &answer, SegmentKind::Result, "");
    }
    match value.get("tools") {
        Some(tools) => tool::capture_list(collector, &format!("{pointer}/tools"), &origin, tools),
        None => collector.unknown(pointer, "(no tools)"),
    }
}
