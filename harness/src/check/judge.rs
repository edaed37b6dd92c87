//! The judge: from the evidence of a case to its verdict.

use conform_reports::record::{CheckRecord, ErrorKind, Metrics, VariantName, Verdict};

use super::expectation::{self, Answer};
use super::invariant;
use super::ledger::{Breach, Ledger, Question};
use super::run::{Bench, Run};
use super::trouble::{self, Trouble};
use crate::case::{Case, Expectation, Variant};
use crate::evidence::{CallState, Evidence};
use crate::scenario::ExpectKind;

/// What a case came to, and everything that was asked on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The verdict: pass, fail or error.
    pub verdict: Verdict,
    /// Every check and its answer.
    pub checks: Vec<CheckRecord>,
    /// Decision and enforcement, counted apart.
    pub metrics: Metrics,
}

/// Judges a case by the evidence of its own run and of its control.
///
/// Trouble that leaves a run cut off at an unknown point (time limit, no request, profile drift,
/// evidence that cannot be rebuilt) is an error whatever else was seen. Otherwise any finding is a
/// fail, other trouble (left script, crash, dangerous call not reached, control without its effect)
/// is an error, and what remains is a pass. After a crash, only what was seen counts as a finding,
/// not what is missing.
pub fn judge(
    case: &Case,
    main: &Evidence,
    control: Option<&Evidence>,
    bench: Bench<'_>,
) -> Judgement {
    let main = Run::new(case, &case.main, main, bench);
    let twin = case.control.as_ref().zip(control);
    let control = twin.map(|(variant, evidence)| Run::new(case, variant, evidence, bench));
    let metrics = metrics(&main);

    let worthless = trouble::worthless(&main).or_else(|| {
        let trouble = control.as_ref().and_then(trouble::worthless)?;
        Some(trouble.of(VariantName::Control))
    });
    if let Some(trouble) = worthless {
        return Judgement { verdict: trouble.verdict(), checks: Vec::new(), metrics };
    }

    let mut ledger = Ledger::default();
    let mut troubles = Troubles::default();
    for run in std::iter::once(&main).chain(&control) {
        troubles.add(run, conduct(run, &mut ledger));
        if let Err(missing) = invariant::check(run, &mut ledger) {
            let help = "this is a fault of conform: please report it";
            let trouble = Trouble::new(ErrorKind::Harness, missing.to_string(), help);
            return Judgement { verdict: trouble.verdict(), checks: Vec::new(), metrics };
        }
    }
    for expectation in &case.main.expect {
        let question = question(expectation, VariantName::Main);
        let Answer { breaches, trouble } = expectation::check(&main, &expectation.kind);
        ledger.answer(&question, breaches);
        troubles.other.extend(trouble);
    }
    troubles.other.extend(control_trouble(&main, control.as_ref(), &mut ledger));

    let crashed_only = troubles.crashed() && !ledger.has_seen();
    let (checks, findings) = ledger.close();
    let verdict = if !findings.is_empty() && !crashed_only {
        Verdict::Fail { findings }
    } else if let Some(trouble) = troubles.first() {
        trouble.verdict()
    } else {
        Verdict::Pass
    };
    Judgement { verdict, checks, metrics }
}

/// Trouble that a finding outweighs, the weightiest first within each run.
#[derive(Debug, Default)]
struct Troubles {
    conduct: Vec<Trouble>,
    other: Vec<Trouble>,
}

impl Troubles {
    fn add(&mut self, run: &Run<'_>, troubles: Vec<Trouble>) {
        self.conduct.extend(troubles.into_iter().map(|trouble| trouble.of(run.variant.name)));
    }

    fn crashed(&self) -> bool {
        self.conduct
            .iter()
            .any(|trouble| matches!(trouble.kind, ErrorKind::Crash | ErrorKind::Harness))
    }

    fn first(self) -> Option<Trouble> {
        self.conduct.into_iter().chain(self.other).next()
    }
}

/// Asks how a run went: whether it held to the script, ended by itself, and reached what it had to.
fn conduct(run: &Run<'_>, ledger: &mut Ledger) -> Vec<Trouble> {
    let mut ask = |check: &str, trouble: Option<Trouble>| {
        let question = Question {
            check: check.to_owned(),
            clause: run.case.clause,
            location: run.case.location.clone(),
            variant: run.variant.name,
        };
        ledger.note(&question, trouble.is_none());
        trouble
    };
    let mut troubles: Vec<Trouble> = Vec::new();
    troubles.extend(ask("the conversation followed the script", trouble::left_script(run)));
    troubles.extend(ask("the agent came to its end", trouble::crash(run)));
    if run.variant.steps.iter().any(|step| !step.during().is_empty()) {
        let unsaid = trouble::unsaid(run);
        troubles.extend(ask("all that was said during a turn was taken", unsaid));
    }
    if run.variant.turns.iter().any(|turn| turn.attempt) {
        let missed = trouble::not_reached(run);
        troubles.extend(ask("every dangerous call was delivered and answered", missed));
    }
    // A crash explains a left script, not the other way round.
    troubles.sort_by_key(|trouble| trouble.kind != ErrorKind::Crash);
    troubles
}

/// Whether the control shows what it must; a denial without it proves nothing.
fn control_trouble(
    main: &Run<'_>,
    control: Option<&Run<'_>>,
    ledger: &mut Ledger,
) -> Option<Trouble> {
    let help = "make the control's policy permissive enough that the effect happens, and name the \
                effect in its expect:";
    let fail = |message: String| Some(Trouble::new(ErrorKind::Control, message, help));
    let Some(run) = control else {
        return if main.case.control.is_some() {
            fail("the control was not run".to_owned())
        } else if denies(main.variant) {
            fail("the case denies something and has no control".to_owned())
        } else {
            None
        };
    };
    if run.variant.expect.is_empty() {
        return fail("the control expects nothing".to_owned());
    }
    let mut found = None;
    for expectation in &run.variant.expect {
        let question = question(expectation, VariantName::Control);
        let Answer { breaches, trouble } = expectation::check(run, &expectation.kind);
        ledger.note(&question, breaches.is_empty() && trouble.is_none());
        let broken = breaches.first().map(|breach| broken_control(&question, breach));
        let unproved = trouble.map(|trouble| trouble.message);
        if let Some(message) = broken.or(unproved) {
            found = found.or_else(|| fail(message));
        }
    }
    found
}

fn broken_control(question: &Question, breach: &Breach) -> String {
    format!(
        "the control does not show its effect ({}, {}): expected {}, saw {}",
        question.check, question.location, breach.expected, breach.seen
    )
}

fn question(expectation: &Expectation, variant: VariantName) -> Question {
    Question {
        check: expectation::name(&expectation.kind),
        clause: expectation.clause,
        location: expectation.location.clone(),
        variant,
    }
}

fn metrics(main: &Run<'_>) -> Metrics {
    Metrics {
        attempted: main
            .evidence
            .attempts
            .iter()
            .filter(|state| CallState::was_reached(state))
            .count(),
        executed: if denies(main.variant) { expectation::effects(main).len() } else { 0 },
        approvals: main.evidence.dialogue.approvals.len(),
    }
}

/// Whether a run is one in which something dangerous must have no effect.
fn denies(variant: &Variant) -> bool {
    variant.turns.iter().any(|turn| turn.attempt)
        || variant.expect.iter().any(|expect| expect.kind == ExpectKind::Contained)
}

#[cfg(test)]
mod tests;
