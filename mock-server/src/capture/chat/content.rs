//! Content: a string, or a list of parts.

use serde_json::Value;

use crate::capture::collector::{Collector, Origin};
use crate::capture::part;
use crate::capture::segment::SegmentKind;

/// Where a part keeps its text, or what stands for it.
fn places(part_type: &str) -> Option<&'static [&'static str]> {
    Some(match part_type {
        "text" => &["/text"],
        "refusal" => &["/refusal"],
        "image_url" => &["/image_url/url"],
        "input_audio" => &["/input_audio/data"],
        "file" => &["/file/file_data", "/file/file_id"],
        _ => return None,
    })
}

/// Where a reasoning detail keeps its text.
fn detail_places(detail_type: &str) -> Option<&'static [&'static str]> {
    Some(match detail_type {
        // With the mode `omitted` a signature is all there is.
        "reasoning.text" => &["/text", "/signature"],
        "reasoning.summary" => &["/summary"],
        "reasoning.encrypted" => &["/data"],
        _ => return None,
    })
}

/// Adds the content of a message.
pub(super) fn message(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    value: &Value,
) {
    content(collector, pointer, origin, SegmentKind::Text, value);
}

/// Adds the content of a result. There is always at least one segment, so that the call is
/// answered by something.
pub(super) fn result(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, value: &Value) {
    match value.get("content") {
        None => {
            collector.unknown(pointer, "(no content)");
            collector.segment(pointer, origin, SegmentKind::Result, "");
        }
        Some(Value::Array(parts)) if parts.is_empty() => {
            let at = format!("{pointer}/content");
            collector.segment(at, origin, SegmentKind::Result, "");
        }
        // The older function role may answer nothing.
        Some(Value::Null) if origin.role == "function" => {
            collector.segment(pointer, origin, SegmentKind::Result, "");
        }
        Some(_) => content(collector, pointer, origin, SegmentKind::Result, value),
    }
}

/// Adds one of the details in which some servers keep reasoning.
pub(super) fn reasoning_detail(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    detail: &Value,
) {
    part_of(collector, pointer, origin, SegmentKind::Reasoning, detail, detail_places);
}

fn content(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    let at = format!("{pointer}/content");
    match value.get("content") {
        // A message that says nothing is a message: an empty one of high authority is judged.
        Some(Value::Array(parts)) if parts.is_empty() => collector.segment(at, origin, kind, ""),
        Some(Value::Array(parts)) => {
            for (index, part) in parts.iter().enumerate() {
                part_of(collector, &format!("{at}/{index}"), origin, kind, part, places);
            }
        }
        Some(found) => part::text(collector, &at, origin, kind, found),
        None => collector.unknown(pointer, "(no content)"),
    }
}

fn part_of(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
    places: impl FnOnce(&str) -> Option<&'static [&'static str]>,
) {
    let Some(native_type) = part::type_of(collector, pointer, origin, kind, value) else { return };
    let origin = Origin { native_type, ..*origin };
    match places(native_type) {
        Some(places) => part::first_of(collector, pointer, &origin, kind, value, places),
        None => part::unknown(collector, pointer, &origin, kind, value),
    }
}
