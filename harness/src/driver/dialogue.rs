//! What a driver saw: the evidence that no request and no file shows.

use conform_reports::record::Exit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DriverKind {
    /// One process, one prompt, one answer.
    Exec,
    /// The JSON-lines dialogue of the lab agent.
    Jsonl,
    /// The app-server of Codex: threads and turns over JSON-RPC.
    AppServer,
    /// The Agent Client Protocol: JSON-RPC on standard input and output.
    Acp,
    /// The JSON lines of Claude Code.
    StreamJson,
    /// The JSON lines of Pi.
    Rpc,
}

impl DriverKind {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exec => "exec",
            Self::Jsonl => "jsonl",
            Self::AppServer => "app-server",
            Self::Acp => "acp",
            Self::StreamJson => "stream-json",
            Self::Rpc => "rpc",
        }
    }
}

/// The dialogue with one agent process, from its start to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dialogue {
    /// How the turns went, one for each prompt sent.
    pub turns: Vec<TurnOutcome>,
    /// Approval requests, in order.
    pub approvals: Vec<Approval>,
    /// Questions of the agent that the driver could not answer: what the agent did instead says
    /// nothing about it.
    pub unanswered: Vec<String>,
    /// How the process ended.
    pub exit: Exit,
    /// Everything it wrote to standard output.
    pub stdout: String,
    /// Everything it wrote to standard error.
    pub stderr: String,
    /// Names of processes still there after it had ended; they were killed then.
    pub leftovers: Vec<String>,
    /// Whether the time limit ended it.
    pub timed_out: bool,
}

/// How one turn went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOutcome {
    /// Whether the agent reported it as success.
    pub succeeded: bool,
    /// The final text, if the agent gave one.
    pub final_text: Option<String>,
}

impl TurnOutcome {
    /// A turn that did not come to its end.
    pub(super) const FAILED: Self = Self { succeeded: false, final_text: None };
}

/// An approval request and the decision it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The call it belongs to, where the agent says so.
    pub call_id: Option<String>,
    /// The action it showed.
    pub action: String,
    /// Whether it was allowed.
    pub allowed: bool,
}
