//! What the wire does not define is reported, never dropped.

use crate::check::ledger::Breach;
use crate::check::run::Run;

pub(super) fn breaches(run: &Run<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for request in &run.evidence.requests {
        for unknown in &request.capture.unknown {
            let expected = format!("a role or type that the {} wire defines", request.capture.wire);
            let seen = run.excerpt(&unknown.found);
            breaches
                .push(Breach::seen(expected, seen).at(request.number, unknown.pointer.as_str()));
        }
    }
    breaches
}
