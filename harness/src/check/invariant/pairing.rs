//! Every call has exactly one result with its id, after it, and every result its call.

use conform_mock_server::capture::{Segment, SegmentKind};

use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::evidence::ModelRequest;

pub(in crate::check) fn breaches(run: &Run<'_>) -> Vec<Breach> {
    run.evidence.requests.iter().flat_map(|request| in_request(run, request)).collect()
}

fn in_request(run: &Run<'_>, request: &ModelRequest) -> Vec<Breach> {
    // An id that an agent made up may differ from run to run.
    let shown = |id: &str| run.excerpt(id);
    let calls = items(request, SegmentKind::Call);
    let results = items(request, SegmentKind::Result);
    let mut breaches = Vec::new();
    let mut broken = |expected: String, seen: String, segment: &Segment| {
        breaches.push(Breach::seen(expected, seen).at(request.number, segment.pointer.as_str()));
    };

    for (kind, items) in [("call", &calls), ("result", &results)] {
        for (index, item) in items.iter().enumerate() {
            match id(item.segment) {
                None => broken(
                    format!("every {kind} has a call id"),
                    format!("a {kind} without one ({})", item.segment.native_type),
                    item.segment,
                ),
                Some(id)
                    if items[..index].iter().any(|other| self::id(other.segment) == Some(id)) =>
                {
                    broken(
                        format!("one {kind} with id {}", shown(id)),
                        "a second one".to_owned(),
                        item.segment,
                    );
                }
                Some(_) => {}
            }
        }
    }
    for call in &calls {
        let Some(id) = id(call.segment) else { continue };
        match results.iter().find(|result| self::id(result.segment) == Some(id)) {
            None => broken(
                format!("one result for call {}", shown(id)),
                "none".to_owned(),
                call.segment,
            ),
            Some(result) if result.order < call.order => broken(
                format!("the result of call {} after the call", shown(id)),
                "it stands before it".to_owned(),
                result.segment,
            ),
            Some(_) => {}
        }
    }
    for result in &results {
        let Some(id) = id(result.segment) else { continue };
        if !calls.iter().any(|call| self::id(call.segment) == Some(id)) {
            broken(format!("a call for result {}", shown(id)), "none".to_owned(), result.segment);
        }
    }
    breaches
}

/// A call or a result with the first of its segments.
struct Item<'a> {
    order: usize,
    segment: &'a Segment,
}

/// The calls or results of a request; the parts of one result are one item.
fn items(request: &ModelRequest, kind: SegmentKind) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for (order, segment) in request.capture.segments.iter().enumerate() {
        let continues = items
            .last()
            .is_some_and(|last| segment.item.is_some() && last.segment.item == segment.item);
        if segment.kind == kind && !continues {
            items.push(Item { order, segment });
        }
    }
    items
}

fn id(segment: &Segment) -> Option<&str> {
    segment.call_id.as_deref().filter(|id| !id.is_empty())
}
