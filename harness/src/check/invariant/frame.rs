//! Frames hold: a planted closing tag does not end the frame around it.

use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::evidence::closing_tags;

/// Project rules whose own closing tag came through unescaped.
pub(super) fn broken(run: &Run<'_>) -> Vec<Breach> {
    let Some(frame) = &run.bench.profile.contract.rules_frame else { return Vec::new() };
    let mut breaches = Vec::new();
    for request in &run.evidence.requests {
        for sighting in run.sightings(request) {
            let documented = sighting.is_as_documented(request);
            let extent = sighting.segment.text.get(sighting.found.extent.clone());
            let planted = extent.unwrap_or_default();
            if documented && closing_tags(planted, frame) > 0 {
                let expected = format!(
                    "the `{}` inside `{}` escaped or removed",
                    run.bench.profile.contract.rules_close(),
                    sighting.found.origin
                );
                let breach = Breach::seen(expected, "it ends the frame early");
                breaches.push(breach.at(request.number, &*sighting.segment.pointer));
            }
        }
    }
    breaches
}
