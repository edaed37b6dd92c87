//! Parts of items, and events beside them.

use serde_json::{Map, Value};

use super::fault::Event;
use super::model::Item;

/// A part of assistant content.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text with notes on it.
    Text {
        /// The whole text.
        text: String,
        /// Annotations or citations in the wire's own form.
        annotations: Vec<Value>,
    },
    /// What the model says when it refuses.
    Refusal(String),
}

/// A call of the built-in shell tool: `local_shell_call` of the Responses wire.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalShell {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Further fields of the action, such as `env`, `timeout_ms`, `working_directory`.
    pub more: Map<String, Value>,
    /// The call id; a counter's value when absent.
    pub call_id: Option<String>,
}

/// A search that the server made itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSearch {
    /// What was searched for.
    pub query: String,
    /// What was found. The Responses wire shows the addresses alone.
    pub results: Vec<SearchResult>,
}

/// A page that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
}

/// An event that stands beside the items of a streamed reply on the Responses wire. It is numbered
/// like any other.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtraEvent {
    /// The event it stands before, counted without extra events.
    pub before: Event,
    /// Its type, such as `codex.rate_limits`, `response.metadata` or `keepalive`.
    pub kind: String,
    /// Its fields, without `type` and `sequence_number`.
    pub fields: Map<String, Value>,
}

impl Item {
    /// Whether the model refuses in it.
    pub(crate) fn refuses(&self) -> bool {
        match self {
            Self::Parts { parts, .. } => parts.iter().any(|part| matches!(part, Part::Refusal(_))),
            _ => false,
        }
    }
}
