//! The ledger: everything that was asked, and every breach.

use conform_reports::record::{CheckRecord, CheckResult, Finding, Location, VariantName};

use crate::clause::ClauseRef;

/// One question.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// In a few words that stay the same between runs.
    pub(super) check: String,
    /// The clause it serves.
    pub(super) clause: ClauseRef,
    /// The line that asks it.
    pub(super) location: Location,
    /// The run it is asked of.
    pub(super) variant: VariantName,
}

/// What broke a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) expected: String,
    pub(super) seen: String,
    pub(super) request: Option<u64>,
    pub(super) pointer: Option<String>,
    pub(super) basis: Basis,
}

/// What a breach rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Something was there that must not be.
    Seen,
    /// Something was not there. A run that ended too early explains that as well.
    Missing,
}

impl Breach {
    pub(super) fn seen(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            seen: seen.into(),
            request: None,
            pointer: None,
            basis: Basis::Seen,
        }
    }

    pub(super) fn missing(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self { basis: Basis::Missing, ..Self::seen(expected, seen) }
    }

    /// The breach, with its place.
    pub(super) fn at(self, request: u64, pointer: impl Into<String>) -> Self {
        Self { request: Some(request), pointer: Some(pointer.into()), ..self }
    }

    /// The breach, with its request.
    pub(super) fn in_request(self, request: u64) -> Self {
        Self { request: Some(request), ..self }
    }
}

/// All checks in the order in which they were asked, and the findings.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    checks: Vec<CheckRecord>,
    findings: Vec<(Basis, Finding)>,
}

impl Ledger {
    /// Notes the answer to a question; each breach that is not the repetition of an earlier one in
    /// a later request becomes a finding.
    pub(super) fn answer(&mut self, question: &Question, breaches: Vec<Breach>) {
        self.note(question, breaches.is_empty());
        let first = self.findings.len();
        for breach in breaches {
            let repeated = self.findings[first..]
                .iter()
                .any(|(_, known)| known.seen == breach.seen && known.expected == breach.expected);
            if repeated {
                continue;
            }
            let clause = question.clause.get();
            let finding = Finding {
                clause: clause.id.clone(),
                severity: clause.severity,
                layer: clause.layer,
                check: question.check.clone(),
                variant: question.variant,
                expected: breach.expected,
                seen: breach.seen,
                location: question.location.clone(),
                request: breach.request,
                pointer: breach.pointer,
            };
            self.findings.push((breach.basis, finding));
        }
    }

    /// Notes an answer that is no finding even when it is no.
    pub(super) fn note(&mut self, question: &Question, held: bool) {
        self.checks.push(CheckRecord {
            check: question.check.clone(),
            clause: question.clause.id().to_owned(),
            variant: question.variant,
            result: if held { CheckResult::Held } else { CheckResult::Broken },
        });
    }

    /// Whether there is a finding that holds whatever else went wrong.
    pub(super) fn has_seen(&self) -> bool {
        self.findings.iter().any(|(basis, _)| *basis == Basis::Seen)
    }

    /// The checks, and the findings with the gravest first.
    pub(super) fn close(self) -> (Vec<CheckRecord>, Vec<Finding>) {
        let mut findings: Vec<Finding> =
            self.findings.into_iter().map(|(_, finding)| finding).collect();
        findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.variant));
        (self.checks, findings)
    }
}
