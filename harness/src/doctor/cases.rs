//! What the doctor asks, as cases.

use std::sync::Arc;

use conform_mock_server::document::Source;
use include_dir::{Dir, include_dir};
use serde::Serialize;

use crate::agent::profile::{LOGICAL_TOOLS, Profile};
use crate::case::{Case, expand};
use crate::run::RunError;
use crate::scenario::{Policy, load_source};

static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/data/doctor");

/// What is asked of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// One prompt and one answer.
    Plain,
    /// A call of a logical tool.
    Tool(&'static str),
    /// Whether a rule file reaches the model.
    Rules,
    /// Whether what was remembered reaches the model.
    Memory,
}

/// An examination that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum DoctorError {
    /// A case of the doctor's own is broken.
    #[error("the doctor's own case `{name}` is broken: {problems}; this is a fault in conform")]
    Case {
        /// Name of the case.
        name: String,
        /// What is wrong with it.
        problems: String,
    },
    /// The run did not come to its end.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Question {
    /// What can be asked about an agent: nothing about tools that its profile does not lower.
    pub(super) fn about(profile: &Profile) -> Vec<Self> {
        let tools = LOGICAL_TOOLS.iter().map(|(tool, _)| *tool);
        let lowered = tools.filter(|tool| profile.tools.contains_key(*tool));
        std::iter::once(Self::Plain)
            .chain(lowered.map(Self::Tool))
            .chain([Self::Rules, Self::Memory])
            .collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tool(tool) => tool,
            Self::Rules => "rules",
            Self::Memory => "memory",
        }
    }

    /// The id of its case.
    pub(super) fn id(self) -> String {
        format!("doctor.{}", self.name())
    }

    /// The case that asks it, under the widest policy that the agent has where it does not need a
    /// certain one.
    pub(super) fn case(self, profile: &Profile) -> Result<Case, DoctorError> {
        let mut case = self.as_written()?;
        let widest = [Policy::Full, Policy::Workspace, Policy::Ask, Policy::ReadOnly]
            .into_iter()
            .find(|policy| profile.policy.contains_key(policy));
        if let (Policy::Full, Some(widest)) = (case.main.policy, widest) {
            case.main.policy = widest;
        }
        Ok(case)
    }

    fn as_written(self) -> Result<Case, DoctorError> {
        let file = format!("{}.yaml", self.name());
        let broken = |problems: String| DoctorError::Case { name: self.id(), problems };
        let text = SCENARIOS.get_file(&file).and_then(|found| found.contents_utf8());
        let text = text.ok_or_else(|| broken("it is not there".to_owned()))?;
        let source: Arc<Source> = Source::new(format!("scenarios/doctor/{file}"), text);
        let said = |problems: Vec<_>| {
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            broken(texts.join("; "))
        };
        let scenario = load_source(&source).map_err(said)?;
        let expansion = expand(&scenario, &[]).map_err(said)?;
        let mut cases = expansion.cases.into_iter();
        cases.next().ok_or_else(|| broken("it is no case".to_owned()))
    }
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain => f.write_str("plain turn"),
            Self::Tool(tool) => write!(f, "tool {tool}"),
            Self::Rules => f.write_str("project rules"),
            Self::Memory => f.write_str("memory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_a_case() {
        let questions = LOGICAL_TOOLS.iter().map(|(tool, _)| Question::Tool(tool));
        for question in questions.chain([Question::Plain, Question::Rules, Question::Memory]) {
            let case = question.as_written().expect("a case");
            assert_eq!(case.id, question.id());
            assert!(case.control.is_none(), "{question}");
        }
    }
}
