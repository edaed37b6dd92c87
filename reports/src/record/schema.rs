//! The schema of the record. A change that old readers cannot bear raises [`SCHEMA`].

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

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
    /// How cases were confined: `network namespace` or what could not be done.
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

/// What the case came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Verdict {
    /// Every check held, and what had to be reached was reached.
    Pass,
    /// A clause is broken.
    Fail {
        /// What is broken, the gravest first; never empty.
        findings: Vec<Finding>,
    },
    /// A clause is broken, all of it as the agent's baseline says.
    Known {
        /// What is broken.
        findings: Vec<Finding>,
        /// The baseline's sentence.
        reason: String,
    },
    /// Nothing can be said about the agent: the harness, the profile or the start went wrong.
    Error {
        /// The kind of trouble.
        kind: ErrorKind,
        /// What happened.
        message: String,
        /// The next step.
        help: String,
    },
    /// The agent declares that it cannot do this.
    Skip {
        /// Why.
        reason: String,
    },
    /// Repeats of the case disagree.
    Flaky {
        /// The verdict words of the repeats, in order.
        verdicts: Vec<String>,
    },
}

impl Verdict {
    /// The verdict in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail { .. } => "fail",
            Self::Known { .. } => "known",
            Self::Error { .. } => "error",
            Self::Skip { .. } => "skip",
            Self::Flaky { .. } => "flaky",
        }
    }

    /// The findings, if it is a verdict that has some.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Fail { findings } | Self::Known { findings, .. } => findings,
            Self::Pass | Self::Error { .. } | Self::Skip { .. } | Self::Flaky { .. } => &[],
        }
    }
}

/// Why a case is an error and not a verdict on the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The agent could not be started.
    Start,
    /// It ended without ever asking the model.
    NoRequest,
    /// It did not end in time.
    TimeLimit,
    /// It crashed.
    Crash,
    /// It offered other tools than the profile says.
    ProfileDrift,
    /// The conversation left the script: a request without a reply, or a reply nobody asked for.
    Script,
    /// The dangerous moment was not reached, so nothing is proved.
    NotReached,
    /// The control twin did not show the effect, so the oracle may be blind.
    Control,
    /// What the agent printed could not be understood.
    Output,
    /// The harness itself failed.
    Harness,
    /// Something the scenario needs is not on this machine.
    Prerequisite,
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Start => "agent did not start",
            Self::NoRequest => "no request reached the model",
            Self::TimeLimit => "time limit",
            Self::Crash => "agent crashed",
            Self::ProfileDrift => "profile drift",
            Self::Script => "script mismatch",
            Self::NotReached => "dangerous moment not reached",
            Self::Control => "control shows no effect",
            Self::Output => "unreadable agent output",
            Self::Harness => "harness trouble",
            Self::Prerequisite => "missing prerequisite",
        })
    }
}

/// How grave a broken clause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Reported, gates nothing.
    Info,
    /// Warns; gates with `--gate should`.
    Should,
    /// Gates.
    Must,
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Should => "should",
            Self::Must => "must",
        })
    }
}

/// The layer of an agent that first lost a boundary, in the order in which a text passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Finding rule files, skills, memory.
    Discovery,
    /// Putting the request together.
    Assembly,
    /// Turning it into the wire's form.
    Serialization,
    /// Moving it, retrying, reading the stream.
    Transport,
    /// The model's decision.
    Model,
    /// Checking a call before it runs.
    ToolValidation,
    /// Running it, confinement included.
    Execution,
    /// Asking for consent and holding to the answer.
    Approval,
    /// Going on after failure, interruption, compaction or resume.
    Recovery,
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Discovery => "discovery",
            Self::Assembly => "assembly",
            Self::Serialization => "serialization",
            Self::Transport => "transport",
            Self::Model => "model",
            Self::ToolValidation => "tool-validation",
            Self::Execution => "execution",
            Self::Approval => "approval",
            Self::Recovery => "recovery",
        })
    }
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The broken clause.
    pub clause: String,
    /// Its severity.
    pub severity: Severity,
    /// The first layer that lost the boundary.
    pub layer: Layer,
    /// Which check, as in [`CheckRecord::check`].
    pub check: String,
    /// Which run showed it.
    pub variant: VariantName,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// The line of the scenario that asked for it; the scenario's own line for an invariant.
    pub location: Location,
    /// The request concerned, by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// JSON pointer into that request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
}

/// One assertion and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// What was asked, in a few words that stay the same between runs.
    pub check: String,
    /// The clause it serves.
    pub clause: String,
    /// Which run it looked at.
    pub variant: VariantName,
    /// The answer.
    pub result: CheckResult,
}

/// The answer to one assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// It held.
    Held,
    /// It did not.
    Broken,
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

/// What one run of the agent left behind, normalised.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunEvidence {
    /// Requests to the model, in order.
    pub requests: Vec<RequestRecord>,
    /// Approval requests and their decisions.
    pub approvals: Vec<ApprovalRecord>,
    /// Changes of the case's file tree that count; the agent's own state is left out.
    pub files: Vec<FileChange>,
    /// What arrived at sinks.
    pub sinks: Vec<SinkRecord>,
    /// Pages fetched, by name, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
    /// Requests to addresses the mock does not know, as `METHOD path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<String>,
    /// How the agent ended.
    pub exit: Exit,
    /// Its final text.
    pub final_text: Option<String>,
    /// Names of processes left over when the agent had ended, before they were killed.
    pub leftovers: Vec<String>,
}

/// How a process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Exit {
    /// It was never started, or its end was not seen.
    #[default]
    Unknown,
    /// By itself, with this status.
    Status {
        /// Exit status.
        status: i32,
    },
    /// By a signal that the harness did not send.
    Signal {
        /// Signal number.
        signal: i32,
    },
    /// Killed by the harness at the end of a dialogue or at the time limit.
    Killed,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Status { status } => write!(f, "status {status}"),
            Self::Signal { signal } => write!(f, "signal {signal}"),
            Self::Killed => f.write_str("killed"),
        }
    }
}

/// One request to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Number in the journal, from 1.
    pub number: u64,
    /// The purpose it was recognised as.
    pub purpose: String,
    /// The wire.
    pub wire: String,
    /// Path.
    pub path: String,
    /// The turn given, or why none was.
    pub answer: String,
    /// Its segments.
    pub segments: Vec<SegmentRecord>,
    /// Names of the tools offered.
    pub tools: Vec<String>,
    /// Hash of the normalised body.
    pub hash: String,
    /// The normalised native body beside the record, relative to it, when it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Reported usage of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// Scripted token figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Input, cached included.
    pub input: u64,
    /// Cached input.
    pub cached: u64,
    /// Output.
    pub output: u64,
}

/// One segment of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// JSON pointer to the text.
    pub pointer: String,
    /// Native role.
    pub role: String,
    /// Native type.
    #[serde(rename = "type")]
    pub native_type: String,
    /// Authority.
    pub authority: String,
    /// Call id, normalised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Origins found in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<OriginSighting>,
    /// Hash of the normalised text.
    pub hash: String,
    /// Characters of the text as sent.
    pub characters: usize,
}

/// A planted text found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginSighting {
    /// Origin name.
    pub origin: String,
    /// The innermost markup around it, outermost first.
    pub frame: Vec<String>,
    /// How the text came through.
    pub placement: Placement,
}

/// How a planted text came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Byte for byte, all of it.
    Verbatim,
    /// All of it, escaped or re-wrapped.
    Changed,
    /// Only a part of it.
    Partial,
}

/// An approval request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// The call it belongs to, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The action it showed.
    pub action: String,
    /// The decision given.
    pub decision: String,
}

/// A change of the case's file tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Path in the case tree, such as `workspace/deployed.txt`.
    pub path: String,
    /// What happened to it.
    pub change: FileChangeKind,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileChangeKind {
    /// It is new.
    Created,
    /// Contents, type, mode or link target differ.
    Changed,
    /// It is gone.
    Deleted,
}

/// Something that arrived at a sink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinkRecord {
    /// Sink name.
    pub sink: String,
    /// HTTP method.
    pub method: String,
    /// Bytes in the body.
    pub bytes: usize,
    /// Planted secrets found in the path, query, headers or body, by origin name.
    pub secrets: Vec<String>,
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
    /// Whole run, in milliseconds.
    pub duration_ms: u64,
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
