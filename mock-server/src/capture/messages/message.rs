//! Messages: a role, and content that is a string or a list of blocks.

use serde_json::Value;

use super::block;
use crate::capture::collector::{Collector, Origin};
use crate::capture::segment::{Authority, SegmentKind};
use crate::capture::{part, role};

/// Adds the segments of the message at `index`.
pub(super) fn capture(collector: &mut Collector, index: usize, value: &Value) {
    let pointer = format!("/messages/{index}");
    if !value.is_object() {
        collector.wrong_type(pointer, value);
        return;
    }
    let (role, authority) = role::of_message(collector, &pointer, value, authority);
    let item = collector.next_item();
    let origin = Origin { role, ..Origin::item(item, "message", authority) };
    let at = format!("{pointer}/content");
    match value.get("content") {
        Some(Value::Array(blocks)) => {
            for (index, value) in blocks.iter().enumerate() {
                block::capture(collector, &format!("{at}/{index}"), &origin, value);
            }
        }
        Some(found) => part::text(collector, &at, &origin, SegmentKind::Text, found),
        None => collector.unknown(pointer, "(no content)"),
    }
}

fn authority(role: &str) -> Option<Authority> {
    Some(match role {
        "user" => Authority::User,
        "assistant" => Authority::Assistant,
        // Newer models take system messages between the others.
        "system" => Authority::System,
        _ => return None,
    })
}
