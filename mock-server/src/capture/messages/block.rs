//! Content blocks. The table of known types follows the public API's union of content blocks, with
//! those of its betas that clients send.

use serde_json::Value;

use super::document;
use crate::capture::collector::{Collector, Origin};
use crate::capture::part;
use crate::capture::segment::{Authority, SegmentKind};

/// What a block type means for the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// What somebody says or shows.
    Content,
    /// A call; its payload is in `input`.
    Call,
    /// The result of a call that the client carried out.
    ClientResult,
    /// The result of a call that the server carried out; it stands in the assistant's message.
    ServerResult,
    /// Thinking: its text, and the signature that must come back unchanged.
    Thinking,
    /// Opaque content in this field.
    Opaque(SegmentKind, &'static str),
}

/// The shape of a block type; `None` for a type that the wire does not define.
fn shape(native_type: &str) -> Option<Shape> {
    Some(match native_type {
        "text" | "image" | "document" | "search_result" | "container_upload" => Shape::Content,
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Shape::Call,
        "tool_result" => Shape::ClientResult,
        "web_search_tool_result"
        | "web_fetch_tool_result"
        | "code_execution_tool_result"
        | "bash_code_execution_tool_result"
        | "text_editor_code_execution_tool_result"
        | "tool_search_tool_result"
        | "advisor_tool_result"
        | "mcp_tool_result" => Shape::ServerResult,
        "thinking" => Shape::Thinking,
        "redacted_thinking" => Shape::Opaque(SegmentKind::Reasoning, "data"),
        "compaction" => Shape::Opaque(SegmentKind::Compaction, "encrypted_content"),
        _ => return None,
    })
}

impl Shape {
    /// The role whose messages such blocks stand in; `None` if that is not one alone.
    fn role(self) -> Option<&'static str> {
        match self {
            Self::Content => None,
            Self::ClientResult => Some("user"),
            Self::Call | Self::ServerResult | Self::Thinking | Self::Opaque(..) => {
                Some("assistant")
            }
        }
    }
}

/// Adds a block of a message.
pub(super) fn capture(
    collector: &mut Collector,
    pointer: &str,
    message: &Origin<'_>,
    value: &Value,
) {
    let Some(native_type) = part::type_of(collector, pointer, message, SegmentKind::Text, value)
    else {
        return;
    };
    let origin = Origin { native_type, ..*message };
    let Some(shape) = shape(native_type) else {
        part::unknown(collector, pointer, &origin, SegmentKind::Text, value);
        return;
    };
    // A block in the wrong message keeps what the message's role grants.
    let in_place = shape.role().is_none_or(|role| role == message.role);
    if !in_place {
        let found = format!("({native_type} in a message of role {:?})", message.role);
        collector.unknown(format!("{pointer}/type"), found);
    }
    match shape {
        Shape::Content => content_block(collector, pointer, message, SegmentKind::Text, value),
        Shape::Call => {
            let item = Some(collector.next_item());
            let call_id = value.get("id").and_then(Value::as_str);
            let tool = value.get("name").and_then(Value::as_str);
            call(collector, pointer, &Origin { item, call_id, tool, ..origin }, value);
        }
        Shape::ClientResult | Shape::ServerResult => {
            let item = Some(collector.next_item());
            let call_id = value.get("tool_use_id").and_then(Value::as_str);
            let is_error = value.get("is_error").and_then(Value::as_bool);
            let authority = if in_place { Authority::Tool } else { message.authority };
            let origin = Origin { item, authority, call_id, is_error, ..origin };
            result(collector, pointer, &origin, shape, value);
        }
        Shape::Thinking => {
            for place in ["/thinking", "/signature"] {
                let kind = SegmentKind::Reasoning;
                part::first_of(collector, pointer, &origin, kind, value, &[place]);
            }
        }
        Shape::Opaque(kind, field) => opaque(collector, pointer, &origin, kind, field, value),
    }
}

/// Adds a block that shows something: in a message, in a result, or in the system prompt.
pub(super) fn content_block(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    let Some(native_type) = part::type_of(collector, pointer, origin, kind, value) else { return };
    let origin = Origin { native_type, ..*origin };
    let places: &[&str] = match native_type {
        "text" => &["/text"],
        "image" => &["/source/data", "/source/url", "/source/file_id"],
        "container_upload" => &["/file_id"],
        "tool_reference" => &["/tool_name"],
        "document" => return document::document(collector, pointer, &origin, kind, value),
        "search_result" => {
            return document::search_result(collector, pointer, &origin, kind, value);
        }
        _ => return part::unknown(collector, pointer, &origin, kind, value),
    };
    part::first_of(collector, pointer, &origin, kind, value, places);
}

/// Adds a call. One without its input is kept, or its result would look like an orphan.
fn call(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, value: &Value) {
    let Some(input) = value.get("input") else {
        collector.unknown(pointer, "(no input)");
        collector.segment(pointer, origin, SegmentKind::Call, "");
        return;
    };
    let at = format!("{pointer}/input");
    if !input.is_object() {
        collector.wrong_type(&at, input);
    }
    collector.value(at, origin, SegmentKind::Call, input);
}

/// Adds a result. There is always at least one segment, so that the call is answered by something.
fn result(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    shape: Shape,
    value: &Value,
) {
    let kind = SegmentKind::Result;
    let at = format!("{pointer}/content");
    // What a client or another party's server answers is blocks like those of a message; what the
    // API's own tools answer has a form of its own for each.
    let has_blocks = shape == Shape::ClientResult || origin.native_type == "mcp_tool_result";
    match value.get("content") {
        // A result may be empty.
        None | Some(Value::Null) if has_blocks => collector.segment(pointer, origin, kind, ""),
        None => {
            collector.unknown(pointer, "(no content)");
            collector.segment(pointer, origin, kind, "");
        }
        Some(Value::Array(blocks)) if blocks.is_empty() => {
            collector.segment(at, origin, kind, "");
        }
        Some(Value::Array(blocks)) if has_blocks => {
            for (index, block) in blocks.iter().enumerate() {
                content_block(collector, &format!("{at}/{index}"), origin, kind, block);
            }
        }
        Some(found) if has_blocks => part::text(collector, &at, origin, kind, found),
        Some(found) => collector.value(at, origin, kind, found),
    }
}

fn opaque(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    field: &str,
    value: &Value,
) {
    if kind == SegmentKind::Compaction {
        // The summary may be readable, opaque or both.
        for field in ["content", field] {
            part::optional_text(collector, pointer, field, origin, kind, value);
        }
    } else {
        part::first_of(collector, pointer, origin, kind, value, &[&format!("/{field}")]);
    }
}
