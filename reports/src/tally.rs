//! Counting cases by what they came to.

use std::fmt;

use crate::record::{CaseRecord, Severity, Tally, Verdict};

/// What a case counts as: its verdict, with a failure told apart by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// Every check held.
    Pass,
    /// A must is broken.
    Fail,
    /// Only a should or an info is broken.
    Warn,
    /// Broken as the baseline says.
    Known,
    /// Nothing can be said about the agent.
    Error,
    /// The agent declares that it cannot do this.
    Skip,
    /// Repeats disagree.
    Flaky,
}

impl Mark {
    /// All marks, in the order in which reports list them.
    pub const ALL: [Self; 7] =
        [Self::Pass, Self::Fail, Self::Warn, Self::Known, Self::Error, Self::Skip, Self::Flaky];

    /// The mark of a verdict. A failure that names no finding is taken for a broken must, so that
    /// a gap in the record never opens the gate.
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Fail { .. } => match verdict.gravest() {
                Some(Severity::Should | Severity::Info) => Self::Warn,
                Some(Severity::Must) | None => Self::Fail,
            },
            Verdict::Known { .. } => Self::Known,
            Verdict::Error { .. } => Self::Error,
            Verdict::Skip { .. } => Self::Skip,
            Verdict::Flaky { .. } => Self::Flaky,
        }
    }

    /// The mark in one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Known => "known",
            Self::Error => "error",
            Self::Skip => "skip",
            Self::Flaky => "flaky",
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Verdict {
    /// The gravest severity among the findings.
    pub fn gravest(&self) -> Option<Severity> {
        self.findings().iter().map(|finding| finding.severity).max()
    }
}

impl Tally {
    /// The tally of some cases.
    pub fn of(cases: &[CaseRecord]) -> Self {
        let mut tally = Self::default();
        for case in cases {
            tally.add(case);
        }
        tally
    }

    /// Counts one more case.
    pub fn add(&mut self, case: &CaseRecord) {
        let mark = Mark::of(&case.verdict);
        *self.slot(mark) += 1;
        if mark == Mark::Warn && case.verdict.gravest() == Some(Severity::Should) {
            self.should += 1;
        }
    }

    /// How many cases carry the mark.
    pub fn count(&self, mark: Mark) -> usize {
        match mark {
            Mark::Pass => self.pass,
            Mark::Fail => self.fail,
            Mark::Warn => self.warn,
            Mark::Known => self.known,
            Mark::Error => self.error,
            Mark::Skip => self.skip,
            Mark::Flaky => self.flaky,
        }
    }

    /// How many cases were counted.
    pub fn total(&self) -> usize {
        Mark::ALL.iter().fold(0, |total, &mark| total.saturating_add(self.count(mark)))
    }

    fn slot(&mut self, mark: Mark) -> &mut usize {
        match mark {
            Mark::Pass => &mut self.pass,
            Mark::Fail => &mut self.fail,
            Mark::Warn => &mut self.warn,
            Mark::Known => &mut self.known,
            Mark::Error => &mut self.error,
            Mark::Skip => &mut self.skip,
            Mark::Flaky => &mut self.flaky,
        }
    }
}

impl fmt::Display for Tally {
    /// The marks that occur, such as `20 pass, 1 fail, 2 skip`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let occurring = Mark::ALL.into_iter().filter(|&mark| self.count(mark) > 0);
        for (place, mark) in occurring.enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{} {mark}", self.count(mark))?;
        }
        if self.total() == 0 { f.write_str("no cases") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_verdict_has_its_own_place_in_the_tally() {
        let cases = sample::cases();
        let tally = Tally::of(&cases);
        assert_eq!(tally.total(), cases.len());
        for mark in Mark::ALL {
            let marked = cases.iter().filter(|case| Mark::of(&case.verdict) == mark).count();
            assert!(marked > 0, "the sample has no case that counts as {mark}");
            assert_eq!(tally.count(mark), marked, "{mark}");
        }
    }

    #[test]
    fn the_gravest_finding_decides_between_fail_and_warn() {
        for (severities, mark, should) in [
            (&[Severity::Info, Severity::Must][..], Mark::Fail, 0),
            (&[Severity::Info, Severity::Should], Mark::Warn, 1),
            (&[Severity::Info], Mark::Warn, 0),
            (&[], Mark::Fail, 0),
        ] {
            let case = sample::failing(severities);
            assert_eq!(Mark::of(&case.verdict), mark, "{severities:?}");
            assert_eq!(Tally::of(std::slice::from_ref(&case)).should, should, "{severities:?}");
        }
    }

    #[test]
    fn a_tally_names_only_what_occurs() {
        let tally = Tally { pass: 20, fail: 1, skip: 2, ..Tally::default() };
        assert_eq!(tally.to_string(), "20 pass, 1 fail, 2 skip");
        assert_eq!(Tally::default().to_string(), "no cases");
    }
}
