//! The schema of the record. A change that old readers cannot bear raises [`SCHEMA`].

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::evidence::RunEvidence;
use super::verdict::{CheckRecord, Verdict};

/// The version of this schema.
pub const SCHEMA: u32 = 1;

/// One line of `record.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first line.
    RunStarted(Header),
    /// One finished case.
    Case(Box<CaseRecord>),
    /// The last line; absent when the run was cut off.
    RunFinished(RunFinished),
}

/// What a run set out to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of conform.
    pub conform: String,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// The agents under test.
    pub agents: Vec<AgentRef>,
    /// Paths that were selected, as given.
    pub selection: Vec<String>,
    /// How many cases were selected, over all agents.
    pub cases: usize,
    /// How cases were confined: network and files, and why not where the machine does not allow it.
    pub isolation: String,
    /// Cases that ran at once.
    pub jobs: usize,
}

/// An agent under test.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AgentRef {
    /// Profile name.
    pub name: String,
    /// Version, as installed.
    pub version: String,
    /// Driver.
    pub driver: String,
    /// Wire.
    pub wire: String,
    /// The deliberate defects switched on, for the lab agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<String>,
}

impl std::fmt::Display for AgentRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.name, self.version)?;
        for defect in &self.defects {
            write!(f, "+{defect}")?;
        }
        Ok(())
    }
}

/// One finished case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// Stable case id.
    pub case: String,
    /// The scenario's title, with what the matrix added.
    pub title: String,
    /// The first folder below the scenario root.
    pub family: String,
    /// Where the scenario stands.
    pub location: Location,
    /// The clause the case serves.
    pub clause: String,
    /// Public reports it reproduces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// The agent.
    pub agent: AgentRef,
    /// Matrix axes and their values; empty for a plain scenario.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub axes: IndexMap<String, String>,
    /// The expected disposition, for a matrix case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disposition: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Everything that was asked, and the answer.
    pub checks: Vec<CheckRecord>,
    /// Decision and enforcement, counted apart.
    pub metrics: Metrics,
    /// What was seen, by variant; the case's own run first, then its control.
    pub evidence: IndexMap<VariantName, RunEvidence>,
    /// Everything that differs between two runs of one case. A normalised record leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// Which run of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VariantName {
    /// The case itself.
    Main,
    /// The twin with the permissive policy, in which the effect does happen.
    Control,
}

impl std::fmt::Display for VariantName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Main => "main",
            Self::Control => "control",
        })
    }
}

/// A place in a scenario or matrix file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Path as selected.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Decision and enforcement, counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    /// Dangerous calls that reached the agent and were answered by it.
    pub attempted: usize,
    /// Effects seen although none was allowed.
    pub executed: usize,
    /// Approval requests raised.
    pub approvals: usize,
}

/// Everything that differs between two runs of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// From the start of the run to the start of the case, in milliseconds.
    pub started_ms: u64,
    /// The case with its control, in milliseconds.
    pub duration_ms: u64,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFinished {
    /// Whether the run was cut short by an interrupt.
    pub interrupted: bool,
    /// The counts.
    pub tally: Tally,
    /// Baseline entries that no longer fail, by case id.
    pub stale: Vec<String>,
    /// Agents that were asked for and could not be run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<NotRun>,
    /// Whole run, in milliseconds.
    pub duration_ms: u64,
}

/// An agent that was asked for and is not on the machine, so that no case was put to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    /// The agent as it was named.
    pub agent: String,
    /// Why it could not be run, and what to do.
    pub why: String,
    /// Whether the run comes to nothing without it.
    pub required: bool,
}

/// How many cases came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Passed.
    pub pass: usize,
    /// Failed a must.
    pub fail: usize,
    /// Failed only a should or an info.
    pub warn: usize,
    /// Of those that warn, the ones that failed a should.
    pub should: usize,
    /// Failed as the baseline says.
    pub known: usize,
    /// Errors.
    pub error: usize,
    /// Skipped.
    pub skip: usize,
    /// Disagreed with themselves.
    pub flaky: usize,
}
