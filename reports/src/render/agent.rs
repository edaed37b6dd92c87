//! Names of agents, short where that is enough to tell them apart.

use std::collections::BTreeMap;

use super::text::name;
use crate::record::AgentRef;

/// What the agents of one run are called in its reports: `name@version`, with driver and wire where
/// one run holds the same version twice.
#[derive(Debug, Clone, Default)]
pub struct AgentNames {
    /// How many agents of the run share the short name.
    sharing: BTreeMap<String, usize>,
}

impl AgentNames {
    /// Names for these agents, as the record's header lists them.
    pub fn new(agents: &[AgentRef]) -> Self {
        let mut sharing = BTreeMap::new();
        for agent in agents {
            *sharing.entry(agent.to_string()).or_default() += 1;
        }
        Self { sharing }
    }

    /// The name of an agent.
    pub fn of(&self, agent: &AgentRef) -> String {
        let short = agent.to_string();
        if self.sharing.get(&short).is_some_and(|&agents| agents > 1) {
            name(&format!("{short} ({}, {})", agent.driver, agent.wire))
        } else {
            name(&short)
        }
    }

    /// Characters in the longest name.
    pub fn width(&self, agents: &[AgentRef]) -> usize {
        agents.iter().map(|agent| self.of(agent).chars().count()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn driver_and_wire_are_named_only_where_they_tell_agents_apart() {
        let acp = AgentRef { driver: "acp".to_owned(), ..sample::codex() };
        let names = AgentNames::new(&[sample::codex(), acp.clone(), sample::lab()]);
        assert_eq!(names.of(&sample::codex()), "codex@0.171.0 (exec, responses)");
        assert_eq!(names.of(&acp), "codex@0.171.0 (acp, responses)");
        assert_eq!(names.of(&sample::lab()), "lab@0.1.0+approval-ignored");
    }
}
