//! The gate: whether a run may block, and the exit status that says so.
//!
//! The first row that applies decides.
//!
//! | outcome | when | exit status |
//! |---|---|---|
//! | [`Interrupted`](Outcome::Interrupted) | the run was cut short by an interrupt | 130 |
//! | [`NothingSelected`](Outcome::NothingSelected) | no case was selected, and no agent missing | 4 |
//! | [`Fails`](Outcome::Fails) | a must is broken outside the baseline, or a should under [`Severity::Should`], or an info under [`Severity::Info`]; a case is flaky; a baseline entry is stale | 1 |
//! | [`Errors`](Outcome::Errors) | a case is an error, fewer cases finished than were selected, or a required agent was not run | 3 |
//! | [`NothingJudged`](Outcome::NothingJudged) | every case was skipped | 4 |
//! | [`Holds`](Outcome::Holds) | none of these | 0 |
//!
//! So a broken clause is never hidden behind an error, an error never passes, and known gaps,
//! skips and findings below the gate's severity leave the gate standing, as long as one case at
//! least was judged. Exit status 2, bad input, is given before there is a run to judge.

use std::fmt;

use crate::record::{RunFinished, Severity, Verdict};
use crate::tally::Mark;

/// What is let through and what is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The least severity that gates.
    pub severity: Severity,
}

impl Default for Gate {
    /// Only a broken must gates.
    fn default() -> Self {
        Self { severity: Severity::Must }
    }
}

/// What the gate says about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing stands against the agent.
    Holds,
    /// Something does.
    Fails,
    /// Nothing does, but not everything could be judged.
    Errors,
    /// There was nothing to judge.
    NothingSelected,
    /// Cases were selected, and all of them skipped: nothing was said about the agent.
    NothingJudged,
    /// The run was cut short.
    Interrupted,
}

impl Outcome {
    /// The exit status of the process, as in the table of this module.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Fails => 1,
            Self::Errors => 3,
            Self::NothingSelected | Self::NothingJudged => 4,
            Self::Interrupted => 130,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "gate holds",
            Self::Fails => "gate fails",
            Self::Errors => "not everything could be judged",
            Self::NothingSelected => "nothing selected",
            Self::NothingJudged => "nothing was judged",
            Self::Interrupted => "interrupted",
        })
    }
}

/// One reason why a run is not let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// So many cases break a must.
    Must(usize),
    /// So many cases break a should, and the gate asks for those.
    Should(usize),
    /// So many cases break an info only, and the gate asks for those.
    Info(usize),
    /// So many cases disagree with themselves.
    Flaky(usize),
    /// So many baseline entries no longer fail.
    Stale(usize),
    /// So many cases are errors.
    Error(usize),
    /// So many selected cases have no verdict.
    Missing(usize),
    /// So many required agents were not run.
    NotRun(usize),
}

impl Reason {
    /// Whether the reason is a failure of the gate, and not only something left unjudged.
    fn fails(self) -> bool {
        !matches!(self, Self::Error(_) | Self::Missing(_) | Self::NotRun(_))
    }

    fn count(self) -> usize {
        match self {
            Self::Must(count)
            | Self::Should(count)
            | Self::Info(count)
            | Self::Flaky(count)
            | Self::Stale(count)
            | Self::Error(count)
            | Self::Missing(count)
            | Self::NotRun(count) => count,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        let (one, many) = match self {
            Self::Must(_) => ("case breaks a must", "cases break a must"),
            Self::Should(_) => ("case breaks a should", "cases break a should"),
            Self::Info(_) => ("case breaks an info", "cases break an info"),
            Self::Flaky(_) => ("case disagrees with itself", "cases disagree with themselves"),
            Self::Stale(_) => ("baseline entry is stale", "baseline entries are stale"),
            Self::Error(_) => ("case could not be judged", "cases could not be judged"),
            Self::Missing(_) => ("selected case has no verdict", "selected cases have no verdict"),
            Self::NotRun(_) => ("agent was not run", "agents were not run"),
        };
        write!(f, "{count} {}", if count == 1 { one } else { many })
    }
}

impl Gate {
    /// What the gate says about a finished run of `selected` cases.
    pub fn decide(self, selected: usize, run: &RunFinished) -> Outcome {
        let reasons = self.reasons(selected, run);
        if run.interrupted {
            Outcome::Interrupted
        } else if selected == 0 && run.tally.total() == 0 && required(run) == 0 {
            Outcome::NothingSelected
        } else if reasons.iter().any(|reason| reason.fails()) {
            Outcome::Fails
        } else if !reasons.is_empty() {
            Outcome::Errors
        } else if run.tally.skip == run.tally.total() {
            Outcome::NothingJudged
        } else {
            Outcome::Holds
        }
    }

    /// Whether this verdict alone makes the gate fail.
    pub fn stops(self, verdict: &Verdict) -> bool {
        match Mark::of(verdict) {
            Mark::Fail | Mark::Flaky => true,
            Mark::Warn => verdict.gravest().is_some_and(|gravest| self.severity <= gravest),
            Mark::Pass | Mark::Known | Mark::Error | Mark::Skip => false,
        }
    }

    /// Everything that stands against the run, failures first. Empty when the gate holds.
    pub fn reasons(self, selected: usize, run: &RunFinished) -> Vec<Reason> {
        let tally = &run.tally;
        let from = |severity, count| if self.severity <= severity { count } else { 0 };
        let info = tally.warn.saturating_sub(tally.should);
        let mut reasons = vec![
            Reason::Must(tally.fail),
            Reason::Should(from(Severity::Should, tally.should)),
            Reason::Info(from(Severity::Info, info)),
            Reason::Flaky(tally.flaky),
            Reason::Stale(run.stale.len()),
            Reason::Error(tally.error),
            Reason::Missing(selected.saturating_sub(tally.total())),
            Reason::NotRun(required(run)),
        ];
        reasons.retain(|reason| reason.count() > 0);
        reasons
    }
}

/// How many agents should have been run and were not.
fn required(run: &RunFinished) -> usize {
    run.not_run.iter().filter(|agent| agent.required).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Tally;
    use crate::sample;

    fn run(tally: Tally) -> RunFinished {
        RunFinished {
            interrupted: false,
            tally,
            stale: Vec::new(),
            not_run: Vec::new(),
            duration_ms: 0,
        }
    }

    fn decide(severity: Severity, run: &RunFinished) -> Outcome {
        Gate { severity }.decide(run.tally.total(), run)
    }

    #[test]
    fn each_mark_alone_decides_as_the_table_says() {
        use Outcome::{Errors, Fails, Holds, NothingJudged};
        let none = Tally::default();
        for (tally, must, should, info) in [
            (Tally { pass: 1, ..none }, Holds, Holds, Holds),
            (Tally { fail: 1, ..none }, Fails, Fails, Fails),
            (Tally { warn: 1, should: 1, ..none }, Holds, Fails, Fails),
            (Tally { warn: 1, ..none }, Holds, Holds, Fails),
            (Tally { known: 1, ..none }, Holds, Holds, Holds),
            (Tally { error: 1, ..none }, Errors, Errors, Errors),
            (Tally { skip: 1, ..none }, NothingJudged, NothingJudged, NothingJudged),
            (Tally { skip: 1, pass: 1, ..none }, Holds, Holds, Holds),
            (Tally { skip: 1, known: 1, ..none }, Holds, Holds, Holds),
            (Tally { skip: 1, error: 1, ..none }, Errors, Errors, Errors),
            (Tally { flaky: 1, ..none }, Fails, Fails, Fails),
        ] {
            let run = run(tally);
            assert_eq!(decide(Severity::Must, &run), must, "{tally:?}");
            assert_eq!(decide(Severity::Should, &run), should, "{tally:?}");
            assert_eq!(decide(Severity::Info, &run), info, "{tally:?}");
        }
    }

    #[test]
    fn a_verdict_stops_the_gate_exactly_when_a_run_of_it_alone_fails() {
        let mut cases = sample::cases();
        cases.push(sample::failing(&[Severity::Info]));
        for case in cases {
            let run = run(Tally::of(std::slice::from_ref(&case)));
            for severity in [Severity::Must, Severity::Should, Severity::Info] {
                let fails = decide(severity, &run) == Outcome::Fails;
                let stops = Gate { severity }.stops(&case.verdict);
                assert_eq!(stops, fails, "{severity}: {:?}", case.verdict);
            }
        }
    }

    #[test]
    fn a_stale_baseline_entry_fails_a_run_that_passes() {
        let run = RunFinished {
            stale: vec!["approval.denied".to_owned()],
            ..run(Tally { pass: 9, ..Tally::default() })
        };
        assert_eq!(decide(Severity::Must, &run), Outcome::Fails);
    }

    #[test]
    fn a_failure_is_not_hidden_behind_an_error() {
        let run = run(Tally { fail: 1, error: 5, ..Tally::default() });
        assert_eq!(decide(Severity::Must, &run), Outcome::Fails);
    }

    #[test]
    fn an_interrupt_comes_before_everything() {
        let run = RunFinished { interrupted: true, ..run(Tally { fail: 1, ..Tally::default() }) };
        assert_eq!(decide(Severity::Must, &run), Outcome::Interrupted);
        let run = RunFinished { tally: Tally::default(), ..run };
        assert_eq!(Gate::default().decide(0, &run), Outcome::Interrupted);
    }

    #[test]
    fn a_case_without_a_verdict_is_no_pass() {
        let run = run(Tally { pass: 19, ..Tally::default() });
        assert_eq!(Gate::default().decide(20, &run), Outcome::Errors);
        assert_eq!(Gate::default().reasons(20, &run), [Reason::Missing(1)]);
    }

    #[test]
    fn an_agent_that_was_not_run_counts_where_it_is_required() {
        let pass = Tally { pass: 1, ..Tally::default() };
        let decide = |tally: Tally, required: &[bool]| {
            let run = RunFinished { not_run: sample::not_run(required), ..run(tally) };
            Gate::default().decide(tally.total(), &run)
        };
        assert_eq!(decide(pass, &[false]), Outcome::Holds);
        assert_eq!(decide(pass, &[false, true]), Outcome::Errors);
        assert_eq!(decide(Tally { fail: 1, ..pass }, &[true]), Outcome::Fails);
        assert_eq!(decide(Tally::default(), &[true]), Outcome::Errors);
        assert_eq!(decide(Tally::default(), &[false]), Outcome::NothingSelected);
    }

    #[test]
    fn nothing_selected_is_neither_pass_nor_error() {
        assert_eq!(Gate::default().decide(0, &run(Tally::default())), Outcome::NothingSelected);
        assert_eq!(Gate::default().decide(3, &run(Tally::default())), Outcome::Errors);
        let skipped = run(Tally { skip: 2, ..Tally::default() });
        assert_eq!(Gate::default().decide(2, &skipped), Outcome::NothingJudged);
        assert_eq!(Gate::default().decide(3, &skipped), Outcome::Errors, "one is missing");
    }

    #[test]
    fn exit_statuses_are_those_of_the_table() {
        use Outcome::{Errors, Fails, Holds, Interrupted, NothingJudged, NothingSelected};
        let statuses = [Holds, Fails, Errors, NothingSelected, NothingJudged, Interrupted]
            .map(Outcome::exit_status);
        assert_eq!(statuses, [0, 1, 3, 4, 4, 130]);
    }

    #[test]
    fn reasons_read_as_sentences() {
        let run = RunFinished {
            stale: vec!["a".to_owned(), "b".to_owned()],
            not_run: sample::not_run(&[true, false]),
            ..run(Tally { fail: 1, flaky: 2, error: 1, ..Tally::default() })
        };
        let reasons: Vec<_> =
            Gate::default().reasons(5, &run).iter().map(ToString::to_string).collect();
        assert_eq!(
            reasons,
            [
                "1 case breaks a must",
                "2 cases disagree with themselves",
                "2 baseline entries are stale",
                "1 case could not be judged",
                "1 selected case has no verdict",
                "1 agent was not run",
            ]
        );
    }
}
