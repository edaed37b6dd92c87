//! Parts of content, for the wires that nest their text.

use serde_json::Value;

use super::collector::{Collector, Origin};
use super::segment::SegmentKind;

/// The type of a part. One without a type, or of a type that is no string, is noted and kept.
pub(super) fn type_of<'b>(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    part: &'b Value,
) -> Option<&'b str> {
    let found = part.get("type").and_then(Value::as_str);
    if found.is_none() {
        collector.unknown(pointer, "(no type)");
        collector.value(pointer, origin, kind, part);
    }
    found
}

/// Adds a part of a type that the wire does not define: its text, if that is what it has, still
/// reaches the model.
pub(super) fn unknown(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    part: &Value,
) {
    collector.unknown(format!("{pointer}/type"), origin.native_type);
    collector.value(pointer, origin, kind, part);
}

/// Adds the text of a part, or what stands for it: the first of these places within the part that
/// holds something. A part that holds nothing there is noted and kept.
pub(super) fn first_of(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    part: &Value,
    places: &[&str],
) {
    let found = places.iter().find_map(|place| match part.pointer(place) {
        None | Some(Value::Null) => None,
        Some(found) => Some((place, found)),
    });
    let Some((place, found)) = found else {
        let places: Vec<_> = places.iter().map(|place| place.trim_start_matches('/')).collect();
        let native_type = origin.native_type;
        collector.unknown(pointer, format!("({native_type} without {})", places.join(" or ")));
        collector.segment(pointer, origin, kind, "");
        return;
    };
    text(collector, &format!("{pointer}{place}"), origin, kind, found);
}

/// Adds a value that must be a string.
pub(super) fn text(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    if !value.is_string() {
        collector.wrong_type(pointer, value);
    }
    match value {
        // Nothing is said; the word `null` is not.
        Value::Null => collector.segment(pointer, origin, kind, ""),
        value => collector.value(pointer, origin, kind, value),
    }
}

/// Adds a string that may be left out.
pub(super) fn optional_text(
    collector: &mut Collector,
    pointer: &str,
    field: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    match value.get(field) {
        None | Some(Value::Null) => {}
        Some(found) => text(collector, &format!("{pointer}/{field}"), origin, kind, found),
    }
}
