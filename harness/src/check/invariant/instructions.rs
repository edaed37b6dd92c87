//! Instructions: never empty, and in every request.

use conform_mock_server::capture::Authority;

use crate::check::ledger::Breach;
use crate::check::run::{Run, base_segment, is_readable};

/// High-authority texts that say nothing.
pub(super) fn empty(run: &Run<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for request in &run.evidence.requests {
        for segment in &request.capture.segments {
            if segment.authority.is_high() && segment.text.trim().is_empty() {
                let expected = format!("text at {} authority", segment.authority);
                let breach = Breach::seen(expected, "an empty text");
                breaches.push(breach.at(request.number, segment.pointer.as_str()));
            }
        }
    }
    breaches
}

/// Requests of the conversation without the base instructions of its first one. An agent that
/// documents project rules as a part of them reads those anew when it compacts or resumes.
pub(super) fn absent(run: &Run<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut base: Option<(u64, String)> = None;
    let rules_in_base = run.bench.profile.contract.rules_authority == Some(Authority::Instructions);
    for request in run.main_requests().filter(|request| is_readable(request)) {
        let Some((_, own)) = base_segment(request) else {
            let expected = "high-authority instructions in every request of the conversation";
            breaches.push(Breach::seen(expected, "none").in_request(request.number));
            continue;
        };
        if base.as_ref().is_some_and(|(first, _)| run.has_seam(*first, request.number)) {
            base = base.filter(|_| !rules_in_base);
        }
        let (first, text) =
            &*base.get_or_insert_with(|| (request.number, run.normaliser.text(own.text.as_str())));
        let stands = request
            .capture
            .segments
            .iter()
            .filter(|segment| segment.authority.is_high())
            .any(|segment| run.normaliser.text(&segment.text) == *text);
        if !stands {
            let expected = format!("the base instructions of request {first}");
            let seen = format!("other instructions: {}", run.excerpt(&own.text));
            breaches.push(Breach::seen(expected, seen).at(request.number, own.pointer.as_str()));
        }
    }
    breaches
}
