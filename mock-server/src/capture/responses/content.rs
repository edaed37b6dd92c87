//! Content: a string, or a list of parts.

use serde_json::Value;

use crate::capture::collector::{Collector, Origin};
use crate::capture::segment::SegmentKind;

/// Where a part keeps its text, or what stands for it: the first of these fields that is there.
fn fields(part_type: &str) -> Option<&'static [&'static str]> {
    Some(match part_type {
        "input_text" | "output_text" | "summary_text" | "reasoning_text" => &["text"],
        "refusal" => &["refusal"],
        "input_image" | "computer_screenshot" => &["image_url", "file_id"],
        "input_file" => &["file_data", "file_url", "file_id"],
        "input_audio" => &["data", "input_audio"],
        "encrypted_content" => &["encrypted_content"],
        _ => return None,
    })
}

/// Adds the content of a message.
pub(super) fn message(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, item: &Value) {
    content(collector, pointer, "content", origin, SegmentKind::Text, item);
}

/// Adds the result of a call. There is always at least one segment, so that the call is answered
/// by something.
pub(super) fn result(
    collector: &mut Collector,
    pointer: &str,
    field: &str,
    origin: &Origin<'_>,
    item: &Value,
) {
    match item.get(field) {
        // A patch that was applied has a status and need not have an output.
        None | Some(Value::Null) if origin.native_type == "apply_patch_call_output" => {
            collector.segment(pointer, origin, SegmentKind::Result, "");
        }
        None => {
            collector.unknown(pointer, format!("(no {field})"));
            collector.segment(pointer, origin, SegmentKind::Result, "");
        }
        Some(Value::Array(parts)) if parts.is_empty() => {
            collector.segment(format!("{pointer}/{field}"), origin, SegmentKind::Result, "");
        }
        Some(Value::Array(parts)) if origin.native_type == "shell_call_output" => {
            for (index, part) in parts.iter().enumerate() {
                let at = format!("{pointer}/{field}/{index}");
                shell_output(collector, &at, origin, part);
            }
        }
        Some(Value::Object(_)) if origin.native_type == "computer_call_output" => {
            part(
                collector,
                &format!("{pointer}/{field}"),
                origin,
                SegmentKind::Result,
                &item[field],
            );
        }
        Some(_) => content(collector, pointer, field, origin, SegmentKind::Result, item),
    }
}

/// Adds a part that must be of the one given type.
pub(super) fn text_part(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
    known: &str,
) {
    if let Some(found) = value.get("type").and_then(Value::as_str)
        && found != known
        && fields(found).is_some()
    {
        collector.unknown(format!("{pointer}/type"), found);
    }
    part(collector, pointer, origin, kind, value);
}

fn content(
    collector: &mut Collector,
    pointer: &str,
    field: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    item: &Value,
) {
    let at = format!("{pointer}/{field}");
    match item.get(field) {
        Some(Value::String(text)) => collector.segment(at, origin, kind, text),
        // A message that says nothing is a message: an empty one of high authority is judged.
        Some(Value::Array(parts)) if parts.is_empty() => collector.segment(at, origin, kind, ""),
        Some(Value::Array(parts)) => {
            for (index, value) in parts.iter().enumerate() {
                part(collector, &format!("{at}/{index}"), origin, kind, value);
            }
        }
        Some(other) => {
            collector.wrong_type(&at, other);
            collector.value(at, origin, kind, other);
        }
        None => collector.unknown(pointer, format!("(no {field})")),
    }
}

fn part(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    let Some(part_type) = value.get("type").and_then(Value::as_str) else {
        collector.unknown(pointer, "(no type)");
        collector.value(pointer, origin, kind, value);
        return;
    };
    let origin = Origin { native_type: part_type, ..*origin };
    let Some(fields) = fields(part_type) else {
        collector.unknown(format!("{pointer}/type"), part_type);
        // What it says may still reach the model.
        match value.get("text") {
            Some(text @ Value::String(_)) => {
                collector.value(format!("{pointer}/text"), &origin, kind, text);
            }
            _ => collector.value(pointer, &origin, kind, value),
        }
        return;
    };
    let found = fields.iter().find_map(|field| match value.get(*field) {
        None | Some(Value::Null) => None,
        Some(found) => Some((*field, found)),
    });
    let Some((field, found)) = found else {
        collector.unknown(pointer, format!("({part_type} without {})", fields.join(" or ")));
        collector.segment(pointer, &origin, kind, "");
        return;
    };
    let at = format!("{pointer}/{field}");
    if !found.is_string() && field != "input_audio" {
        collector.wrong_type(&at, found);
    }
    collector.value(at, &origin, kind, found);
}

/// One command's output: what it wrote, and how it ended.
fn shell_output(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, value: &Value) {
    for field in ["stdout", "stderr"] {
        match value.get(field) {
            Some(Value::String(text)) => {
                let at = format!("{pointer}/{field}");
                collector.segment(at, origin, SegmentKind::Result, text);
            }
            Some(other) => {
                let at = format!("{pointer}/{field}");
                collector.wrong_type(&at, other);
                collector.value(at, origin, SegmentKind::Result, other);
            }
            None => {
                collector.unknown(pointer, format!("(no {field})"));
                collector.value(pointer, origin, SegmentKind::Result, value);
            }
        }
    }
}
