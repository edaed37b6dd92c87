//! Blocks that hold a text with a title: documents and search results.

use serde_json::Value;

use super::block;
use crate::capture::collector::{Collector, Origin};
use crate::capture::part;
use crate::capture::segment::SegmentKind;

/// Adds a document: its title and context, then what it is made of.
pub(super) fn document(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    for field in ["title", "context"] {
        part::optional_text(collector, pointer, field, origin, kind, value);
    }
    if let Some(Value::Array(blocks)) = value.pointer("/source/content") {
        content(collector, &format!("{pointer}/source/content"), origin, kind, blocks);
    } else {
        let places = ["/source/data", "/source/content", "/source/url", "/source/file_id"];
        part::first_of(collector, pointer, origin, kind, value, &places);
    }
}

/// Adds a search result: its title and source, then its text.
pub(super) fn search_result(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    value: &Value,
) {
    for field in ["title", "source"] {
        part::optional_text(collector, pointer, field, origin, kind, value);
    }
    let at = format!("{pointer}/content");
    match value.get("content") {
        Some(Value::Array(blocks)) => content(collector, &at, origin, kind, blocks),
        Some(other) => part::text(collector, &at, origin, kind, other),
        None => collector.unknown(pointer, "(no content)"),
    }
}

fn content(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    kind: SegmentKind,
    blocks: &[Value],
) {
    for (index, value) in blocks.iter().enumerate() {
        block::content_block(collector, &format!("{pointer}/{index}"), origin, kind, value);
    }
}
