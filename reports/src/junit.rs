//! The `JUnit` report, for the test pages of CI systems.
//!
//! One suite for each agent and family, and one case for each case, sorted by id:
//!
//! | verdict | in the report |
//! |---|---|
//! | pass | success |
//! | fail that stops the gate | failure: type is the clause, message one line, text the block |
//! | fail below the gate's severity | success, the block in `system-out` |
//! | known | skipped, `known: ` and the baseline's reason: neither red nor taken for a pass |
//! | error | error: type is its kind |
//! | skip | skipped, with the reason |
//! | flaky | failure of type `flaky` |
//!
//! What stands against the run and belongs to no case is in a suite named `run`: a stale baseline
//! entry is a failure; an interrupt, cases without a verdict, a required agent that was not run, an
//! empty selection and a run in which every case was skipped are errors; an agent that was not run
//! and is not required is skipped. So the report is green only where the gate holds.

use std::collections::BTreeMap;
use std::io::Write;

use junit_report::{
    Duration, OffsetDateTime, Report, ReportBuilder, TestCase, TestResult, TestSuite,
};
use time::format_description::well_known::Rfc3339;

use crate::gate::Gate;
use crate::record::{CaseRecord, Header, NotRun, RunFinished, Verdict};
use crate::render::{AgentNames, Styles, case_block, headline, name, one_line};

/// Name of the suite for what belongs to no case.
const RUN: &str = "run";

/// A `JUnit` report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum JunitError {
    /// The record's start is no time.
    #[error(
        "the record says that the run started at `{started}`, which is no RFC 3339 time: \
         {source}; the record was altered, run again or restore it"
    )]
    Started {
        /// What the header holds.
        started: String,
        /// What the parser said.
        source: time::error::Parse,
    },
    /// The output could not be written to.
    #[error("cannot write the JUnit report: {source}; check the path and the room left there")]
    Write {
        /// What the writer said.
        source: junit_report::Error,
    },
}

/// Writes the `JUnit` report of a run to `out`.
///
/// # Errors
/// The header holds no valid start, or the output cannot be written to.
pub fn write(
    cases: &[CaseRecord],
    header: &Header,
    run: &RunFinished,
    gate: Gate,
    out: impl Write,
) -> Result<(), JunitError> {
    let started = OffsetDateTime::parse(&header.started, &Rfc3339)
        .map_err(|source| JunitError::Started { started: header.started.clone(), source })?;
    report(cases, header, run, gate, started)
        .write_xml(out)
        .map_err(|source| JunitError::Write { source })
}

fn report(
    cases: &[CaseRecord],
    header: &Header,
    run: &RunFinished,
    gate: Gate,
    started: OffsetDateTime,
) -> Report {
    let names = AgentNames::new(&header.agents);
    let mut families: BTreeMap<(String, String), Vec<&CaseRecord>> = BTreeMap::new();
    for case in cases {
        let key = (names.of(&case.agent), name(&case.family));
        families.entry(key).or_default().push(case);
    }
    let mut report = ReportBuilder::new();
    for ((agent, family), mut cases) in families {
        cases.sort_by(|a, b| a.case.cmp(&b.case));
        let mut suite = suite(&format!("{agent} {family}"), started);
        // CI systems take what stands before the last dot for a package.
        let class = format!("{agent}.{family}");
        suite.add_testcases(cases.into_iter().map(|case| test_case(case, &class, gate)));
        report.add_testsuite(suite);
    }
    let of_run = run_cases(header.cases, run);
    if !of_run.is_empty() {
        let mut suite = suite(RUN, started);
        suite.add_testcases(of_run);
        report.add_testsuite(suite);
    }
    report.build()
}

fn suite(name: &str, started: OffsetDateTime) -> TestSuite {
    let mut suite = TestSuite::new(name);
    name.clone_into(&mut suite.package);
    suite.set_timestamp(started);
    suite
}

fn test_case(case: &CaseRecord, class: &str, gate: Gate) -> TestCase {
    let block = || case_block(case, &Styles::plain()).map(|block| character_data(&block));
    let message = headline(case);
    let (result, system_out) = match &case.verdict {
        Verdict::Pass => (TestResult::Success, None),
        Verdict::Fail { findings } if gate.stops(&case.verdict) => {
            let clause = findings.first().map_or(&case.clause, |finding| &finding.clause);
            (TestResult::Failure { type_: name(clause), message, cause: block() }, None)
        }
        Verdict::Fail { .. } => (TestResult::Success, block()),
        Verdict::Known { .. } => (skipped("known", &message), block()),
        Verdict::Error { kind, .. } => {
            (TestResult::Error { type_: kind.to_string(), message, cause: block() }, None)
        }
        Verdict::Skip { .. } => (skipped("skip", &message), None),
        Verdict::Flaky { .. } => {
            (TestResult::Failure { type_: "flaky".to_owned(), message, cause: block() }, None)
        }
    };
    TestCase {
        name: name(&case.case),
        time: case.timing.map_or(Duration::ZERO, |timing| duration(timing.duration_ms)),
        result,
        classname: Some(class.to_owned()),
        filepath: Some(name(&case.location.file)),
        system_out,
        system_err: None,
    }
}

fn skipped(kind: &str, reason: &str) -> TestResult {
    let message = format!("{kind}: {reason}");
    TestResult::SkippedWithCause { type_: kind.to_owned(), message, cause: None }
}

/// What stands against the run and belongs to no case.
fn run_cases(selected: usize, run: &RunFinished) -> Vec<TestCase> {
    let mut cases: Vec<_> = run
        .stale
        .iter()
        .map(|entry| {
            let entry = format!("baseline entry {}", name(entry));
            let message = "no longer fails: remove the entry from the baseline";
            TestCase::failure(&entry, Duration::ZERO, "stale baseline entry", message)
        })
        .collect();
    cases.extend(run.not_run.iter().map(not_run));
    let total = run.tally.total();
    let missing = selected.saturating_sub(total);
    let unfinished = if run.interrupted {
        Some("interrupted")
    } else if selected == 0 && run.not_run.iter().any(|agent| agent.required) {
        // That is said of each of them.
        None
    } else if selected == 0 && total == 0 {
        Some("nothing selected")
    } else if missing > 0 {
        Some("incomplete")
    } else {
        (run.tally.skip == total).then_some("nothing judged")
    };
    if let Some(kind) = unfinished {
        let message = if missing == 0 && total > 0 && run.tally.skip == total {
            format!("all {total} cases were skipped")
        } else {
            format!("{missing} of {selected} selected cases have no verdict")
        };
        cases.push(TestCase::error("all selected cases finish", Duration::ZERO, kind, &message));
    }
    for case in &mut cases {
        case.set_classname(RUN);
    }
    cases
}

fn not_run(agent: &NotRun) -> TestCase {
    let case = format!("agent {}", name(&agent.agent));
    let why = one_line(&agent.why);
    if agent.required {
        return TestCase::error(&case, Duration::ZERO, "not run", &why);
    }
    TestCase { result: skipped("not run", &why), ..TestCase::success(&case, Duration::ZERO) }
}

/// Text for a CDATA section, which the writer passes on as it is: the mark that would end the
/// section is broken up. Characters that XML cannot hold are not in rendered text.
fn character_data(text: &str) -> String {
    text.replace("]]>", "]] >")
}

/// The duration of a case. What no case lasts is cut, so that sums stay in bounds.
fn duration(milliseconds: u64) -> Duration {
    Duration::milliseconds(i64::from(u32::try_from(milliseconds).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests;
