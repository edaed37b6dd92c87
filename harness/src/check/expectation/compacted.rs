//! Whether a full window was compacted before the conversation went on.

use conform_mock_server::journal::Outcome;
use conform_reports::record::ErrorKind;

use super::Answer;
use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::check::trouble::Trouble;
use crate::evidence::ModelRequest;
use crate::scenario::{ReportedUsage, TurnFault};

/// After each answer that shows a full window, the agent asks for a summary before anything else.
pub(super) fn check(run: &Run<'_>) -> Answer {
    let requests = &run.evidence.requests;
    let full: Vec<usize> =
        (0..requests.len()).filter(|at| shows_full_window(run, &requests[*at])).collect();
    if full.is_empty() {
        return Answer::unproved(Trouble::new(
            ErrorKind::NotReached,
            "no answer told the agent that its window is full",
            "check in the record how the conversation went, and that a turn has `usage: full` or \
             `fault: full-window`",
        ));
    }
    let expected = "a request for a summary before the conversation goes on";
    let breach = |at: &usize| {
        let mut later = requests[at + 1..].iter();
        match later.find(|request| request.purpose.is_main() || is_compaction(request)) {
            Some(next) if is_compaction(next) => None,
            Some(next) => {
                let seen = "the conversation went on with a full window";
                Some(Breach::seen(expected, seen).in_request(next.number))
            }
            None => Some(Breach::missing(expected, "no request")),
        }
    };
    Answer::broken(full.iter().filter_map(breach).collect())
}

fn is_compaction(request: &ModelRequest) -> bool {
    request.purpose.as_str() == "compaction"
}

fn shows_full_window(run: &Run<'_>, request: &ModelRequest) -> bool {
    let turn = |name: &str| run.variant.turns.iter().find(|turn| turn.name == name);
    match &request.outcome {
        Outcome::Served(served) => {
            turn(&served.label).is_some_and(|turn| turn.usage == ReportedUsage::Full)
        }
        Outcome::Faulted { turn: name } => {
            turn(name).is_some_and(|turn| turn.fault == Some(TurnFault::FullWindow))
        }
        _ => false,
    }
}
