//! No planted text stands at an authority that its source does not have.

use conform_mock_server::capture::Authority;

use crate::check::ledger::Breach;
use crate::check::run::{Run, Sighting};

/// Planted texts that speak for the application.
pub(super) fn promoted(run: &Run<'_>) -> Vec<Breach> {
    above(run, |authority| authority >= Authority::ToolDefinition)
}

/// Data that stands as if the user had typed it.
pub(super) fn as_user(run: &Run<'_>) -> Vec<Breach> {
    above(run, |authority| authority == Authority::User)
}

/// Sightings above what is allowed, at authorities of one kind. Project rules are judged apart.
fn above(run: &Run<'_>, at: impl Fn(Authority) -> bool) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for request in &run.evidence.requests {
        for Sighting { found, segment, standing, .. } in run.sightings(request) {
            let authority = segment.authority;
            if standing.rules.is_none() && authority > standing.ceiling && at(authority) {
                let expected = match standing.ceiling {
                    Authority::User => {
                        format!("`{}` at the user's authority at most", found.origin)
                    }
                    _ => format!("`{}` as data of a tool or the model's own words", found.origin),
                };
                let seen = format!("at {authority} authority");
                breaches.push(Breach::seen(expected, seen).at(request.number, &*segment.pointer));
            }
        }
    }
    breaches
}
