//! The schema of the evidence: what one run of the agent left behind, normalised.

use serde::{Deserialize, Serialize};

/// What one run of the agent left behind, normalised.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunEvidence {
    /// The policy of the run: the case's, or a wider one where the case tries nothing that a policy
    /// decides about and the agent does not have the case's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy: String,
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
