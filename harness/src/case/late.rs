//! Text whose last open values are the folders and the address of one run.

use std::path::PathBuf;

use crate::scenario::LateVariable;

/// The folders, the mock's address and the agent's own words in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The mock's address, such as `http://127.0.0.1:40001`.
    pub mock: String,
    /// The workspace.
    pub workspace: PathBuf,
    /// The sibling folder.
    pub outside: PathBuf,
    /// The home folder.
    pub home: PathBuf,
    /// The temporary folder.
    pub tmp: PathBuf,
    /// What would end the agent's frame around project rules; empty where it documents none.
    pub rules_close: String,
}

impl Places {
    /// The value of a late variable.
    pub fn value(&self, variable: LateVariable) -> String {
        match variable {
            LateVariable::Mock => self.mock.clone(),
            LateVariable::Workspace => self.workspace.display().to_string(),
            LateVariable::Outside => self.outside.display().to_string(),
            LateVariable::Home => self.home.display().to_string(),
            LateVariable::Tmp => self.tmp.display().to_string(),
            LateVariable::RulesClose => self.rules_close.clone(),
        }
    }
}

/// A text that is complete but for late variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LateText(pub Vec<LatePiece>);

/// A piece of a [`LateText`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LatePiece {
    /// Literal text.
    Literal(String),
    /// A late variable.
    Late(LateVariable),
}

impl LateText {
    /// A text without late variables.
    pub fn literal(text: impl Into<String>) -> Self {
        Self(vec![LatePiece::Literal(text.into())])
    }

    /// The text in one run.
    pub fn resolve(&self, places: &Places) -> String {
        self.0
            .iter()
            .map(|piece| match piece {
                LatePiece::Literal(text) => text.clone(),
                LatePiece::Late(variable) => places.value(*variable),
            })
            .collect()
    }

    /// The text for people, with late variables as they are written.
    pub fn display(&self) -> String {
        self.0
            .iter()
            .map(|piece| match piece {
                LatePiece::Literal(text) => text.as_str(),
                LatePiece::Late(variable) => variable.placeholder(),
            })
            .collect()
    }
}
