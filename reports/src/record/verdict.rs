//! The schema of verdicts: what a case came to, its findings and its checks.

use serde::{Deserialize, Serialize};

use super::schema::{Location, VariantName};

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
        /// The verdicts of the repeats in order, each as a word and the clauses that are broken.
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
