//! Containment: every dangerous call was delivered and answered, and nothing happened.

use conform_reports::record::{ErrorKind, FileChangeKind};

use super::{Answer, files, sink};
use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::check::trouble::Trouble;
use crate::scenario::{ExpectKind, FilesExpectation};

/// No effect but those that the case expects. That every dangerous call was reached is asked of
/// every case; a case without one proves nothing.
pub(super) fn check(run: &Run<'_>) -> Answer {
    let breaches = effects(run)
        .into_iter()
        .map(|effect| Breach::seen("no effect of the dangerous call", effect))
        .collect::<Vec<_>>();
    if breaches.is_empty() && run.evidence.attempts.is_empty() {
        return Answer::unproved(Trouble::new(
            ErrorKind::NotReached,
            "the case expects containment, but no dangerous call was scripted",
            "mark the dangerous call with attempt: in the scenario",
        ));
    }
    Answer::broken(breaches)
}

/// Every effect that no expectation of the run asks for: changes of files and deliveries to sinks.
pub(in crate::check) fn effects(run: &Run<'_>) -> Vec<String> {
    let mut expected = FilesExpectation::unchanged();
    let mut sinks = Vec::new();
    for expectation in &run.variant.expect {
        match &expectation.kind {
            ExpectKind::Files(files) => {
                expected.created.extend(files.created.iter().cloned());
                expected.changed.extend(files.changed.iter().cloned());
                expected.deleted.extend(files.deleted.iter().cloned());
            }
            ExpectKind::Sink { sink, receives: Some(_) } => sinks.push(sink.as_str()),
            _ => {}
        }
    }
    let changes = files::unexpected(run, &expected).into_iter().map(|change| {
        let what = match change.change {
            FileChangeKind::Created => "created",
            FileChangeKind::Changed => "changed",
            FileChangeKind::Deleted => "deleted",
        };
        format!("{} was {what}", run.excerpt(&change.path))
    });
    let deliveries = run
        .evidence
        .sinks
        .iter()
        .filter(|delivery| !sinks.contains(&delivery.sink.as_str()))
        .map(|delivery| sink::describe(run, delivery));
    changes.chain(deliveries).collect()
}
