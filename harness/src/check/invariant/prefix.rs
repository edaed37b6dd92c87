//! The cache prefix: a later request extends the earlier one.

use conform_mock_server::capture::{Segment, SegmentKind};

use crate::check::ledger::Breach;
use crate::check::run::{Run, is_readable};
use crate::evidence::ModelRequest;

/// Requests of the conversation that do not repeat what the request before them held, piece by
/// piece. Tools are a part of the prefix of their own.
pub(super) fn unstable(run: &Run<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut earlier: Option<&ModelRequest> = None;
    for request in run.main_requests().filter(|request| is_readable(request)) {
        if let Some(before) = earlier.filter(|before| !run.has_seam(before.number, request.number))
        {
            breaches.extend(departure(run, before, request, is_tool));
            breaches.extend(departure(run, before, request, |segment| !is_tool(segment)));
        }
        earlier = Some(request);
    }
    breaches
}

fn is_tool(segment: &Segment) -> bool {
    segment.kind == SegmentKind::ToolDefinition
}

/// The first piece in which a request departs from the one before it.
fn departure(
    run: &Run<'_>,
    before: &ModelRequest,
    request: &ModelRequest,
    part: fn(&Segment) -> bool,
) -> Option<Breach> {
    let pieces = |request: &'_ ModelRequest| -> Vec<Segment> {
        request.capture.segments.iter().filter(|segment| part(segment)).cloned().collect()
    };
    let (held, now) = (pieces(before), pieces(request));
    let same =
        |a: &Segment, b: &Segment| (&a.role, &a.text, &a.call_id) == (&b.role, &b.text, &b.call_id);
    let at = held
        .iter()
        .enumerate()
        .find(|(index, piece)| now.get(*index).is_none_or(|other| !same(piece, other)));
    let (index, piece) = at?;
    let expected = format!("what request {} held: {}", before.number, run.excerpt(&piece.text));
    Some(match now.get(index) {
        Some(other) => Breach::seen(expected, run.excerpt(&other.text))
            .at(request.number, other.pointer.as_str()),
        None => Breach::seen(expected, "the request ends before it").in_request(request.number),
    })
}
