//! Project rules: apart from the base text, once, in the documented frame and place.

use conform_mock_server::capture::Authority;
use conform_reports::record::Placement;

use crate::check::ledger::Breach;
use crate::check::run::{Run, Sighting, base_segment};
use crate::evidence::ModelRequest;
use crate::scenario::Capability;

/// How a sighting of project rules stands to what the agent documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// No higher than any data may.
    Data,
    /// Where the agent documents them.
    Documented,
    /// In the base text, from which the agent documents them apart.
    Welded,
    /// Anywhere else.
    Undocumented,
}

/// Project rules that are part of the base text.
pub(super) fn welded(run: &Run<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for request in &run.evidence.requests {
        for (sighting, documented) in rules(run, request) {
            if place(request, &sighting, documented) == Place::Welded {
                let expected = format!(
                    "the rules of `{}` at {documented} authority, apart from the base text",
                    sighting.found.origin
                );
                let seen = format!("in the base text, at {} authority", sighting.segment.authority);
                let breach = Breach::seen(expected, seen);
                breaches.push(breach.at(request.number, &*sighting.segment.pointer));
            }
        }
    }
    breaches
}

/// Project rules elsewhere, more than once, or out of their frame.
pub(super) fn misplaced(run: &Run<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let loads_rules = run.bench.capabilities.contains(&Capability::ProjectRules);
    for request in &run.evidence.requests {
        for (sighting, documented) in rules(run, request) {
            let Sighting { found, segment, .. } = &sighting;
            let broken = match place(request, &sighting, documented) {
                Place::Undocumented => Some(Breach::seen(
                    format!("the rules of `{}` at {documented} authority", found.origin),
                    format!("at {} authority", segment.authority),
                )),
                Place::Documented if loads_rules => out_of_frame(run, &sighting),
                Place::Data | Place::Documented | Place::Welded => None,
            };
            breaches.extend(broken.map(|breach| breach.at(request.number, &*segment.pointer)));
        }
        if loads_rules && request.purpose.is_main() {
            breaches.extend(repeated(run, request));
        }
    }
    breaches
}

/// The sightings of project rules, with the authority at which the agent documents them.
fn rules<'r>(
    run: &'r Run<'_>,
    request: &'r ModelRequest,
) -> impl Iterator<Item = (Sighting<'r>, Authority)> {
    run.sightings(request).filter_map(|sighting| Some((sighting, sighting.standing.rules?)))
}

fn place(request: &ModelRequest, sighting: &Sighting<'_>, documented: Authority) -> Place {
    let authority = sighting.segment.authority;
    let in_base = base_segment(request).is_some_and(|(base, _)| base == sighting.found.segment);
    if documented != Authority::Instructions && (in_base || authority == Authority::Instructions) {
        Place::Welded
    } else if sighting.is_as_documented(request) {
        Place::Documented
    } else if authority <= sighting.standing.ceiling {
        Place::Data
    } else {
        Place::Undocumented
    }
}

/// Project rules at their documented authority, but not marked as such.
fn out_of_frame(run: &Run<'_>, sighting: &Sighting<'_>) -> Option<Breach> {
    let frame = run.bench.profile.contract.rules_frame.as_ref()?;
    let Sighting { found, standing, .. } = sighting;
    // The same text may be the user's own as well, and then needs no frame.
    let innermost = found.frame.last();
    (standing.only_rules && innermost != Some(frame)).then(|| {
        Breach::seen(
            format!("the rules of `{}` in the frame `{frame}`", found.origin),
            innermost.map_or_else(|| "no frame".to_owned(), |other| format!("`{other}`")),
        )
    })
}

/// Rules that stand more than once at their documented authority.
fn repeated(run: &Run<'_>, request: &ModelRequest) -> Vec<Breach> {
    let documented: Vec<Sighting<'_>> = rules(run, request)
        .filter(|(sighting, documented)| {
            sighting.standing.only_rules
                && place(request, sighting, *documented) == Place::Documented
        })
        .map(|(sighting, _)| sighting)
        .collect();
    let mut breaches = Vec::new();
    for (index, sighting) in documented.iter().enumerate() {
        // Two pieces of one text that was changed in the middle are still one text.
        let again = documented[..index].iter().any(|earlier| {
            earlier.found.origin == sighting.found.origin
                && (earlier.found.segment != sighting.found.segment
                    || [earlier, sighting].iter().all(|s| s.found.placement != Placement::Partial))
        });
        if again {
            let expected = format!("the rules of `{}` once", sighting.found.origin);
            let breach = Breach::seen(expected, "once more");
            breaches.push(breach.at(request.number, &*sighting.segment.pointer));
        }
    }
    breaches
}
