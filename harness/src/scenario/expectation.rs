//! Expectations: what a scenario asks of the requests, the tree, the dialogue and the end.

use conform_mock_server::capture::Authority;
use conform_mock_server::document::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::When;
use super::text::Text;
use crate::clause::ClauseRef;

/// One expectation.
#[derive(Debug, Clone)]
pub struct ExpectSpec {
    /// For which cells it holds.
    pub when: When,
    /// The clause it serves, if not the scenario's or the kind's own.
    pub clause: Option<ClauseRef>,
    /// Where it stands.
    pub span: Span,
    /// What is expected.
    pub kind: ExpectKind<Text>,
}

/// What can be expected; `T` is [`Text`] in a scenario and its expanded form in a case.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpectKind<T> {
    /// Where a planted text stands in the requests.
    Request {
        /// Origin name.
        origin: String,
        /// Where the origin's name stands.
        span: Span,
        /// The authorities at which it may stand; it must stand at one of them at least once, and
        /// nowhere else but in the model's own words.
        authority: Vec<Authority>,
        /// A markup tag that must be around it.
        frame: Option<String>,
        /// Whether it must be there byte for byte.
        verbatim: bool,
        /// In how many segments of the last main request it must stand, if that is asked.
        count: Option<u64>,
    },
    /// A planted text stands in no request.
    NoRequest {
        /// Origin name.
        origin: String,
        /// Where the origin's name stands.
        span: Span,
    },
    /// What stands in the last request of the conversation, at whatever authority.
    LastRequest {
        /// Origins that stand in it, and not only in the model's own words.
        holds: Vec<(String, Span)>,
        /// Origins that do not stand in it.
        lacks: Vec<(String, Span)>,
        /// Origins of which each stands behind all those before it, as far as they are there.
        order: Vec<(String, Span)>,
    },
    /// What stands in the requests of sub-agents, at whatever authority.
    SubAgent {
        /// Origins of which each stands in one of them.
        holds: Vec<(String, Span)>,
        /// Origins that stand in none.
        lacks: Vec<(String, Span)>,
    },
    /// In every request, each call has its result and each result its call.
    Paired,
    /// How the agent reported the compactions that it was told to make.
    Compaction(ExitExpectation),
    /// After each reply that reports a full window, and each refusal for one, the agent asks for a
    /// summary before it goes on.
    Compacted,
    /// Every attempt was delivered and answered, and nothing happened.
    Contained,
    /// How many approval requests were raised.
    Approvals {
        /// Exactly this many.
        raised: u64,
    },
    /// What became of the file tree.
    Files(FilesExpectation<T>),
    /// What arrived at the sink of this name; `None`: nothing arrived.
    Sink {
        /// Sink name.
        sink: String,
        /// Text that a delivery must contain.
        receives: Option<T>,
    },
    /// The final text.
    Final {
        /// Texts it must contain.
        contains: Vec<T>,
        /// Texts it must not contain.
        excludes: Vec<T>,
    },
    /// The result sent back for the calls of a turn.
    Result {
        /// The turn's name.
        turn: String,
        /// Where the turn's name stands.
        span: Span,
        /// What kind of result it must be, by the profile's rules.
        class: Option<ResultClass>,
        /// Texts the result must contain.
        contains: Vec<T>,
        /// Texts it must not contain.
        excludes: Vec<T>,
    },
    /// How the agent ended.
    Exit(ExitExpectation),
}

/// The kinds of results that are told apart; a profile says how each of them reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResultClass {
    /// The action was refused by policy, sandbox or human.
    Denied,
    /// What was asked for is not there.
    NotFound,
    /// The tool does not exist or was called wrongly.
    Invalid,
    /// A sub-agent could not do its task.
    Failed,
}

impl ResultClass {
    /// All classes with the names that scenarios and profiles use.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("denied", Self::Denied),
        ("not-found", Self::NotFound),
        ("invalid", Self::Invalid),
        ("failed", Self::Failed),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::NotFound => "not-found",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        }
    }
}

/// What became of the file tree; whatever is not named must be unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesExpectation<T> {
    /// Paths that are new, such as `deployed.txt` or `outside/x`.
    pub created: Vec<T>,
    /// Paths whose contents, mode or target changed.
    pub changed: Vec<T>,
    /// Paths that are gone.
    pub deleted: Vec<T>,
}

impl<T> FilesExpectation<T> {
    /// Nothing changed.
    pub fn unchanged() -> Self {
        Self { created: Vec::new(), changed: Vec::new(), deleted: Vec::new() }
    }
}

/// How the agent reported that something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitExpectation {
    /// As a success.
    Success,
    /// As a failure.
    Failure,
}
