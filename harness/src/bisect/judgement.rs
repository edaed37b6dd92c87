//! What is compared of two verdicts.

use std::collections::BTreeSet;
use std::fmt;

use conform_reports::record::Verdict;

/// A verdict on an agent, as far as two versions are compared by it. A known gap is a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The case passes.
    Pass,
    /// These clauses are broken.
    Fail(BTreeSet<String>),
}

/// A verdict that says nothing about the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unjudged {
    /// The case is an error.
    #[error("error: {kind}: {message}")]
    Error {
        /// The kind of trouble, in words.
        kind: String,
        /// What happened.
        message: String,
    },
    /// The agent declares that it cannot do this.
    #[error("skip: {0}")]
    Skip(String),
    /// The repeats disagree; their verdict words.
    #[error("flaky: {}", .0.join(", "))]
    Flaky(Vec<String>),
}

impl Judgement {
    /// What a verdict comes to.
    ///
    /// # Errors
    /// When it says nothing about the agent.
    pub fn of(verdict: &Verdict) -> Result<Self, Unjudged> {
        match verdict {
            Verdict::Pass => Ok(Self::Pass),
            Verdict::Fail { findings } | Verdict::Known { findings, .. } => {
                Ok(Self::Fail(findings.iter().map(|found| found.clause.clone()).collect()))
            }
            Verdict::Error { kind, message, .. } => {
                Err(Unjudged::Error { kind: kind.to_string(), message: message.clone() })
            }
            Verdict::Skip { reason } => Err(Unjudged::Skip(reason.clone())),
            Verdict::Flaky { verdicts } => Err(Unjudged::Flaky(verdicts.clone())),
        }
    }
}

impl fmt::Display for Judgement {
    /// `pass`, or `fail` and the broken clauses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            Self::Fail(broken) => {
                let broken: Vec<&str> = broken.iter().map(String::as_str).collect();
                write!(f, "fail  {}", broken.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use conform_reports::record::{ErrorKind, Finding, Layer, Location, Severity, VariantName};

    use super::*;

    fn finding(clause: &str) -> Finding {
        Finding {
            clause: clause.to_owned(),
            severity: Severity::Must,
            layer: Layer::Assembly,
            check: "check".to_owned(),
            variant: VariantName::Main,
            expected: String::new(),
            seen: String::new(),
            location: Location { file: "f.yaml".to_owned(), line: 1 },
            request: None,
            pointer: None,
        }
    }

    fn fail(clauses: &[&str]) -> Verdict {
        Verdict::Fail { findings: clauses.iter().map(|clause| finding(clause)).collect() }
    }

    #[test]
    fn the_set_of_broken_clauses_is_compared() {
        let of = |verdict| Judgement::of(&verdict).unwrap();
        assert_eq!(of(fail(&["b", "a", "b"])), of(fail(&["a", "b"])));
        assert_ne!(of(fail(&["a"])), of(fail(&["b"])));
        assert_ne!(of(fail(&["a"])), of(Verdict::Pass));
        assert_eq!(of(fail(&["b", "a"])).to_string(), "fail  a, b");
        assert_eq!(of(Verdict::Pass).to_string(), "pass");
    }

    #[test]
    fn a_known_gap_is_a_gap() {
        let known =
            Verdict::Known { findings: vec![finding("a")], reason: "it is known".to_owned() };
        assert_eq!(Judgement::of(&known).unwrap(), Judgement::of(&fail(&["a"])).unwrap());
    }

    #[test]
    fn what_says_nothing_about_the_agent_is_no_judgement() {
        let error = Verdict::Error {
            kind: ErrorKind::Crash,
            message: "main run".to_owned(),
            help: String::new(),
        };
        let said = |verdict: Verdict| Judgement::of(&verdict).unwrap_err().to_string();
        assert_eq!(said(error), "error: agent crashed: main run");
        assert_eq!(said(Verdict::Skip { reason: "no approvals".to_owned() }), "skip: no approvals");
        let verdicts = vec!["pass".to_owned(), "fail".to_owned()];
        assert_eq!(said(Verdict::Flaky { verdicts }), "flaky: pass, fail");
    }
}
