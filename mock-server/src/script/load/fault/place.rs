//! Events and places.

use crate::document::{Fields, Node, NodeKind, Problems};
use crate::script::fault::{Event, Point};

/// Reads an event: its number from 1, from -1 for the last backwards, or its type.
pub(in crate::script::load) fn event(node: &Node, problems: &mut Problems) -> Option<Event> {
    match &node.kind {
        NodeKind::Int(0) => {
            problems.error_with_help(
                node.span,
                "events are counted from 1",
                "1 is the first, -1 is the last; `after_event: 0` is the place before all",
            );
            None
        }
        NodeKind::Int(number) if *number > 0 => Some(Event::Number(number.unsigned_abs())),
        NodeKind::Int(number) => Some(Event::FromEnd(number.unsigned_abs())),
        NodeKind::Text(name) => Some(Event::Named(name.clone())),
        _ => {
            problems.wrong_kind(node, "an event", "its number or its type");
            None
        }
    }
}

/// Takes a place from a map: before or after an event, after a byte; nothing is before the head.
pub(super) fn point(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Point> {
    let names = ["before_event", "after_event", "after_byte"];
    let found: Vec<_> =
        names.into_iter().filter_map(|name| Some((name, fields.optional(name)?))).collect();
    if let [(first, _), (second, node), ..] = found.as_slice() {
        let span = fields.key_span(second).unwrap_or(node.span);
        problems.error(span, format!("`{first}` and `{second}` cannot stand together"));
        return None;
    }
    match found.first() {
        None => Some(Point::Start),
        Some(("before_event", node)) => event(node, problems).map(Point::Before),
        Some(("after_event", node)) if node.kind == NodeKind::Int(0) => Some(Point::AfterHead),
        Some(("after_event", node)) => event(node, problems).map(Point::After),
        Some((_, node)) => problems.count(node, "`after_byte`").map(Point::AfterByte),
    }
}
