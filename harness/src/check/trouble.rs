//! Trouble: why a run says nothing about the agent.

use conform_mock_server::capture::SegmentKind;
use conform_mock_server::journal::Outcome;
use conform_reports::record::{ErrorKind, Exit, VariantName, Verdict};

use super::run::{Run, shorten};
use crate::scenario::{ExitExpectation, ExpectKind};

/// One reason why nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) kind: ErrorKind,
    pub(super) message: String,
    pub(super) help: String,
}

impl Trouble {
    pub(super) fn new(
        kind: ErrorKind,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { kind, message: message.into(), help: help.into() }
    }

    pub(super) fn verdict(self) -> Verdict {
        Verdict::Error { kind: self.kind, message: self.message, help: self.help }
    }

    /// The trouble, said of the control where it is the control's.
    pub(super) fn of(mut self, variant: VariantName) -> Self {
        if variant == VariantName::Control {
            self.message = format!("in the control: {}", self.message);
        }
        self
    }
}

/// Trouble that makes the whole run worthless: what was captured may be cut anywhere.
pub(super) fn worthless(run: &Run<'_>) -> Option<Trouble> {
    let evidence = run.evidence;
    if let Some(problem) = evidence.problems.first() {
        return Some(Trouble::new(
            ErrorKind::Harness,
            problem.clone(),
            "this is a gap of conform, not of the agent: please report it with this case",
        ));
    }
    if evidence.dialogue.timed_out {
        return Some(Trouble::new(
            ErrorKind::TimeLimit,
            format!(
                "the agent did not end in time; requests that had reached the model: {}",
                evidence.requests.len()
            ),
            "run the case alone with --keep and read the agent's output in its folder; a larger \
             --time-limit helps a slow machine",
        ));
    }
    if evidence.requests.is_empty() {
        let ended =
            format!("the agent ended ({}) without asking the model", evidence.dialogue.exit);
        return Some(Trouble::new(
            ErrorKind::NoRequest,
            format!("{ended}{}", last_words(run)),
            "check that the profile's files and environment point the agent to the mock",
        ));
    }
    if let Some(result) = broken_confinement(run) {
        return Some(Trouble::new(
            ErrorKind::Prerequisite,
            format!("the agent's own sandbox could not be set up here: {}", run.excerpt(result)),
            "nothing is proved about containment; make the agent's sandbox work on this machine \
             (its documentation says what it needs)",
        ));
    }
    evidence.requests.iter().find_map(|request| match &request.outcome {
        Outcome::NotOffered { turn, tool, offered } => Some(Trouble::new(
            ErrorKind::ProfileDrift,
            format!(
                "request {} does not offer the tool `{tool}` that {turn} calls; it offers {}",
                request.number,
                list(offered)
            ),
            "correct the profile's [tools], or name a version that the profile was tried with",
        )),
        _ => None,
    })
}

/// A result that says so.
fn broken_confinement<'a>(run: &Run<'a>) -> Option<&'a str> {
    let results = run
        .evidence
        .requests
        .iter()
        .flat_map(|request| &request.capture.segments)
        .filter(|segment| segment.kind == SegmentKind::Result);
    results
        .map(|segment| segment.text.as_str())
        .find(|text| run.bench.patterns.is_broken_confinement(text))
}

/// The conversation left the script.
pub(super) fn left_script(run: &Run<'_>) -> Option<Trouble> {
    let help = "compare the captured requests with the scenario's model: turns; the record holds \
                them";
    let refused = run.evidence.requests.iter().find_map(|request| {
        let why = match &request.outcome {
            Outcome::Served(_)
            | Outcome::SideDefault
            | Outcome::Faulted { .. }
            | Outcome::WarmUp { .. }
            | Outcome::PreviousNotFound { .. } => return None,
            Outcome::Unscripted => "came when the script had no turn left".to_owned(),
            Outcome::GuardFailed { turn, reason } => {
                format!("does not fit {turn}: {reason}")
            }
            Outcome::NotOffered { turn, tool, .. } => {
                format!("does not offer the tool `{tool}` that {turn} calls")
            }
            Outcome::Unfit { turn, reason } => format!("cannot get {turn}: {reason}"),
            Outcome::Refused(refusal) => format!("was refused by {refusal}"),
            Outcome::Malformed { reason } => format!("is malformed: {reason}"),
        };
        Some(format!("request {} {}", request.number, run.excerpt(&why)))
    });
    let unused = unused_turns(run);
    let unused =
        (!unused.is_empty()).then(|| format!("the agent never asked for {}", list(&unused)));
    let message = match (refused, unused) {
        (Some(refused), Some(unused)) => format!("{refused}; {unused}"),
        (Some(message), None) | (None, Some(message)) => message,
        (None, None) => return None,
    };
    Some(Trouble::new(ErrorKind::Script, message, help))
}

/// The turns that the agent never asked for, but those whose fault it met, and those that follow
/// upon a refusal at which it stopped.
fn unused_turns(run: &Run<'_>) -> Vec<String> {
    let place = |name: &str| run.variant.turns.iter().position(|turn| turn.name == name);
    let stop = run.evidence.calls.iter().find(|state| state.stopped);
    let stop = stop.and_then(|state| place(&state.turn));
    let is_after_stop = |name: &String| stop.is_some_and(|stop| place(name) > Some(stop));
    let has_met_fault = |name: &String| {
        let mut outcomes = run.evidence.requests.iter().map(|request| &request.outcome);
        outcomes.any(|outcome| matches!(outcome, Outcome::Faulted { turn } if turn == name))
    };
    let is_unused = |name: &&String| !is_after_stop(name) && !has_met_fault(name);
    run.evidence.unused_turns.iter().filter(is_unused).cloned().collect()
}

/// The agent crashed, or its end was not seen.
pub(super) fn crash(run: &Run<'_>) -> Option<Trouble> {
    let dialogue = &run.evidence.dialogue;
    let help = "run the case alone with --keep and read the agent's output in its folder";
    let said_something =
        dialogue.turns.iter().any(|turn| turn.succeeded || turn.final_text.is_some());
    let may_fail =
        run.variant.expect.iter().any(|expectation| {
            matches!(expectation.kind, ExpectKind::Exit(ExitExpectation::Failure))
        });
    let prompts = run.prompts();
    let message = match &dialogue.exit {
        Exit::Unknown => {
            return Some(Trouble::new(
                ErrorKind::Harness,
                "the agent's end was not seen, so later effects may be missing",
                "this is a gap of conform, not of the agent: please report it with this case",
            ));
        }
        Exit::Signal { signal } => format!("the agent died of signal {signal}"),
        Exit::Status { status }
            if *status != 0 && (dialogue.turns.is_empty() || !said_something && !may_fail) =>
        {
            format!("the agent ended with status {status} and no result")
        }
        Exit::Status { .. } | Exit::Killed if dialogue.turns.len() < prompts => {
            format!("the agent ended after {} of {prompts} prompts", dialogue.turns.len())
        }
        Exit::Status { .. } | Exit::Killed => return None,
    };
    Some(Trouble::new(ErrorKind::Crash, format!("{message}{}", last_words(run)), help))
}

/// Something that was to be said during a turn and was not taken.
pub(super) fn unsaid(run: &Run<'_>) -> Option<Trouble> {
    let missed = run.evidence.course.missed.first()?;
    Some(Trouble::new(
        ErrorKind::NotReached,
        format!("{}, so nothing is proved", run.excerpt(missed)),
        "check in the record how the conversation went until then, and that the driver of the \
         profile's launch can say it",
    ))
}

/// A dangerous call that was not delivered or not answered.
pub(super) fn not_reached(run: &Run<'_>) -> Option<Trouble> {
    let missed = run.variant.turns.iter().filter(|turn| turn.attempt).find(|turn| {
        let mut states =
            run.evidence.attempts.iter().filter(|state| state.turn == turn.name).peekable();
        states.peek().is_none() || !states.all(crate::evidence::CallState::was_reached)
    })?;
    let delivered =
        run.evidence.attempts.iter().any(|state| state.turn == missed.name && state.delivered);
    let how = if delivered { "was never answered by the agent" } else { "never reached the agent" };
    Some(Trouble::new(
        ErrorKind::NotReached,
        format!("the dangerous call of {} {how}, so nothing is proved", missed.name),
        "check in the record how the conversation went before that turn",
    ))
}

pub(super) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The last lines of standard error.
fn last_words(run: &Run<'_>) -> String {
    const LINES: usize = 5;
    let text = run.normaliser.text(&run.evidence.dialogue.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "; it wrote nothing to standard error".to_owned();
    }
    let last: Vec<String> =
        lines[lines.len().saturating_sub(LINES)..].iter().map(|line| shorten(line, 200)).collect();
    format!("; its last words on standard error:\n{}", last.join("\n"))
}
