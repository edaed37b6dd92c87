//! The steps of a scenario: what the user and the harness do, in order.

use conform_mock_server::document::Span;

use super::model::When;
use super::text::Text;

/// One thing that is done.
#[derive(Debug, Clone)]
pub enum Step {
    /// The user sends a prompt and the turn runs to its end.
    User {
        /// The prompt.
        text: Text,
        /// What the user says while the agent works on it, in this order.
        during: Vec<InterjectionSpec>,
    },
    /// A file of the workspace gets new contents, between two turns.
    Write {
        /// Its path below the workspace.
        path: Text,
        /// The contents.
        text: Text,
    },
    /// The agent is told to compact its history.
    Compact(Span),
    /// The agent's process ends, and a new one goes on with the session.
    Resume(Span),
}

/// What the user says in the middle of a turn, and when.
#[derive(Debug, Clone)]
pub struct InterjectionSpec {
    /// For which cells of the matrix or personas it is said.
    pub when: When,
    /// When it is said.
    pub moment: Moment,
    /// Where the moment's name stands.
    pub moment_span: Span,
    /// What is said.
    pub said: Said<Text>,
}

/// A moment of a run, told by what reaches the mock and never by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// The request that the turn of this name answers has come.
    Asked(String),
    /// The page of this name was fetched.
    Fetched(String),
}

/// What can be said in the middle of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said<T> {
    /// A message to the running turn.
    Steer(T),
    /// The order to stop.
    Interrupt,
}

impl<T> Said<T> {
    /// The gate that opens when the agent has taken the `number`-th of its kind, from 1.
    pub fn gate(&self, number: usize) -> String {
        let word = match self {
            Self::Steer(_) => "steer-taken",
            Self::Interrupt => "interrupt-taken",
        };
        numbered(word, number)
    }
}

/// The name of the `number`-th thing of a kind: the first has the bare word.
pub fn numbered(word: &str, number: usize) -> String {
    if number == 1 { word.to_owned() } else { format!("{word}-{number}") }
}
