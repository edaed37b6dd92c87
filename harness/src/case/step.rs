//! The steps of a case.

use super::late::LateText;
use crate::scenario::{Moment, Said};

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseStep {
    /// The user sends a prompt and the turn runs to its end.
    User {
        /// The prompt.
        text: LateText,
        /// What the user says while the agent works on it, in this order.
        during: Vec<CaseInterjection>,
    },
    /// A file of the workspace gets new contents, between two turns.
    Write {
        /// Its path below the workspace.
        path: String,
        /// The contents.
        text: LateText,
    },
    /// The agent is told to compact its history.
    Compact,
    /// The agent's process ends, and a new one goes on with the session.
    Resume,
}

/// What the user says in the middle of a turn, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseInterjection {
    /// When it is said.
    pub moment: Moment,
    /// What is said.
    pub said: Said<LateText>,
    /// The gate that opens when the agent has taken it; it is also its name in messages.
    pub gate: String,
}

impl CaseStep {
    /// A prompt during which nothing more is said.
    pub fn user(text: LateText) -> Self {
        Self::User { text, during: Vec::new() }
    }

    /// What is said during it.
    pub fn during(&self) -> &[CaseInterjection] {
        match self {
            Self::User { during, .. } => during,
            Self::Write { .. } | Self::Compact | Self::Resume => &[],
        }
    }

    /// Whether the user stops the turn.
    pub fn is_interrupted(&self) -> bool {
        self.during().iter().any(|interjection| interjection.said == Said::Interrupt)
    }

    /// The user's own words: the prompt and the steers.
    pub fn typed(&self) -> impl Iterator<Item = &LateText> {
        let prompt = match self {
            Self::User { text, .. } => Some(text),
            Self::Write { .. } | Self::Compact | Self::Resume => None,
        };
        let steers = self.during().iter().filter_map(|interjection| match &interjection.said {
            Said::Steer(text) => Some(text),
            Said::Interrupt => None,
        });
        prompt.into_iter().chain(steers)
    }
}
