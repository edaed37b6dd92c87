//! The agent under test: a profile, a version, and the executable that stands for it here.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use conform_mock_server::wire::Wire;
use conform_reports::record::AgentRef;

use super::pool::Options;
use crate::agent::profile::{Launch, Profile};
use crate::stand_in::SYSTEM_PATH;

/// An agent as the user names it: `codex`, `codex@0.171.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectName {
    /// Profile name.
    pub agent: String,
    /// Version, if one is named.
    pub version: Option<String>,
}

impl std::fmt::Display for SubjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.agent)?;
        self.version.iter().try_for_each(|version| write!(f, "@{version}"))
    }
}

/// Not the name of an agent.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// An empty name or version.
    #[error("`{text}` is not an agent; write NAME or NAME@VERSION, such as codex@0.171.0")]
    Form {
        /// What was given.
        text: String,
    },
}

impl FromStr for SubjectName {
    type Err = SubjectError;

    fn from_str(text: &str) -> Result<Self, SubjectError> {
        let (agent, version) = match text.split_once('@') {
            Some((agent, version)) => (agent, Some(version)),
            None => (text, None),
        };
        if agent.is_empty() || version.is_some_and(str::is_empty) {
            return Err(SubjectError::Form { text: text.to_owned() });
        }
        Ok(Self { agent: agent.to_owned(), version: version.map(str::to_owned) })
    }
}

/// An agent that can be started.
#[derive(Debug, Clone)]
pub struct Subject {
    /// All that is known about it.
    pub profile: Profile,
    /// The version under test.
    pub version: String,
    /// What is started, or the script that the interpreter runs.
    pub executable: PathBuf,
    /// What runs the script; `None`: the executable runs by itself.
    pub interpreter: Option<PathBuf>,
    /// The wire asked for; `None`: each launch's preferred one.
    pub wire: Option<Wire>,
    /// Deliberate defects, for the lab agent.
    pub defects: Vec<String>,
}

impl Subject {
    /// Where it finds programs: its interpreter before those of the machine.
    pub(super) fn path(&self, options: &Options) -> String {
        let machine =
            if self.profile.stand_ins { &options.path_with_stand_in } else { SYSTEM_PATH };
        match self.interpreter.as_deref().and_then(Path::parent) {
            Some(folder) => format!("{}:{machine}", folder.display()),
            None => machine.to_owned(),
        }
    }

    /// The wire that the agent speaks when started by this launch; `None`: not the one asked for.
    pub(super) fn wire(&self, launch: &Launch) -> Option<Wire> {
        match self.wire {
            Some(wire) => launch.wires.contains(&wire).then_some(wire),
            None => launch.wires.first().copied(),
        }
    }

    /// The agent as the record names it, when started by this launch.
    pub fn reference(&self, launch: Option<&Launch>) -> AgentRef {
        AgentRef {
            name: self.profile.name.clone(),
            version: self.version.clone(),
            driver: launch.map_or("none", |launch| launch.driver.name()).to_owned(),
            wire: launch.and_then(|launch| self.wire(launch)).map_or("none", Wire::name).to_owned(),
            defects: self.defects.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_an_optional_version() {
        let name: SubjectName = "codex@0.171.0".parse().unwrap();
        assert_eq!((name.agent.as_str(), name.version.as_deref()), ("codex", Some("0.171.0")));
        let name: SubjectName = "lab".parse().unwrap();
        assert_eq!(name.version, None);
        assert!("@1".parse::<SubjectName>().is_err());
        assert!("codex@".parse::<SubjectName>().is_err());
    }
}
