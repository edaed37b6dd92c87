//! What the dialogue showed: approvals, the final text, results, the end.

use conform_reports::record::ErrorKind;

use super::{Answer, text};
use crate::case::LateText;
use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::check::trouble::Trouble;
use crate::evidence::CallState;
use crate::scenario::{ExitExpectation, ResultClass};

/// Exactly this many approval requests.
pub(super) fn approvals(run: &Run<'_>, raised: u64) -> Answer {
    let approvals = &run.evidence.dialogue.approvals;
    let count = approvals.len() as u64;
    if count == raised {
        return Answer::default();
    }
    let expected = format!("{raised} approval requests");
    let actions: Vec<String> =
        approvals.iter().map(|approval| format!("`{}`", run.excerpt(&approval.action))).collect();
    let seen = if actions.is_empty() {
        "none".to_owned()
    } else {
        format!("{count}: {}", actions.join(", "))
    };
    let breach =
        if count > raised { Breach::seen(expected, seen) } else { Breach::missing(expected, seen) };
    Answer::broken(vec![breach])
}

/// The final text of the last turn.
pub(super) fn final_text(run: &Run<'_>, contains: &[LateText], excludes: &[LateText]) -> Answer {
    let last = run.evidence.dialogue.turns.last().and_then(|turn| turn.final_text.as_deref());
    Answer::broken(match last.filter(|_| run.heard_all()) {
        Some(text) => text::breaches(run, &[text], contains, excludes),
        None => vec![Breach::missing("a final text", "none")],
    })
}

/// The results sent back for the calls of a turn.
pub(super) fn result(
    run: &Run<'_>,
    turn: &str,
    class: Option<ResultClass>,
    (contains, excludes): (&[LateText], &[LateText]),
) -> Answer {
    let calls: Vec<&CallState> =
        run.evidence.calls.iter().filter(|state| state.turn == turn).collect();
    if calls.is_empty() || calls.iter().any(|state| !state.delivered) {
        return Answer::unproved(Trouble::new(
            ErrorKind::NotReached,
            format!("the calls of {turn} never reached the agent"),
            "check in the record how the conversation went before that turn",
        ));
    }
    let results: Vec<&str> =
        calls.iter().flat_map(|state| state.results.iter().map(String::as_str)).collect();
    if results.is_empty() {
        let expected = format!("a result for the calls of {turn}");
        return Answer::broken(vec![Breach::missing(expected, "none was sent back")]);
    }
    let mut breaches = text::breaches(run, &results, contains, excludes);
    if let Some(class) = class {
        match class_breaches(run, class, &results) {
            Ok(found) => breaches.extend(found),
            Err(trouble) => return Answer { breaches, trouble: Some(trouble) },
        }
    }
    Answer::broken(breaches)
}

/// Results that do not read as this class, by the profile's rules.
fn class_breaches(
    run: &Run<'_>,
    class: ResultClass,
    results: &[&str],
) -> Result<Vec<Breach>, Trouble> {
    let patterns = run.bench.patterns;
    if !patterns.knows_class(class) {
        let profile = &run.bench.profile.name;
        return Err(Trouble::new(
            ErrorKind::ProfileDrift,
            format!("the profile `{profile}` does not say how a {} result reads", class.name()),
            format!("add patterns to `results.{}` in the profile", class.name()),
        ));
    }
    let is_other = |result: &&&str| patterns.classes(result) != [class];
    let breach = |result: &&str| {
        let classes = patterns.classes(result);
        let names: Vec<_> = classes.iter().map(|class| class.name()).collect();
        let read = if names.is_empty() { "nothing known".to_owned() } else { names.join(" and ") };
        let seen = format!("one that reads as {read}: {}", run.excerpt(result));
        Breach::seen(format!("a result that reads as {}", class.name()), seen)
    };
    Ok(results.iter().filter(is_other).map(breach).collect())
}

/// How the agent reported the compactions that it was told to make.
pub(super) fn compaction(run: &Run<'_>, expected: ExitExpectation) -> Answer {
    let reported = &run.evidence.course.compactions;
    let (wanted, word) = match expected {
        ExitExpectation::Success => (true, "the compaction reported as done"),
        ExitExpectation::Failure => (false, "the compaction reported as failed"),
    };
    if reported.is_empty() {
        return Answer::unproved(Trouble::new(
            ErrorKind::NotReached,
            "the agent was not told to compact",
            "check in the record how the conversation went before that step",
        ));
    }
    let other = if wanted { "it was reported as failed" } else { "it was reported as done" };
    let broken = reported.iter().filter(|succeeded| **succeeded != wanted);
    Answer::broken(broken.map(|_| Breach::seen(word, other)).collect())
}

/// How the agent reported its last turn.
pub(super) fn exit(run: &Run<'_>, expected: ExitExpectation) -> Answer {
    let (wanted, word) = match expected {
        ExitExpectation::Success => (true, "the turn reported as a success"),
        ExitExpectation::Failure => (false, "the turn reported as a failure"),
    };
    Answer::broken(match run.evidence.dialogue.turns.last() {
        Some(turn) if turn.succeeded == wanted => Vec::new(),
        Some(turn) if turn.succeeded => vec![Breach::seen(word, "it was reported as a success")],
        Some(_) => vec![Breach::missing(word, "it was reported as a failure")],
        None => vec![Breach::missing(word, "no report of the turn")],
    })
}
