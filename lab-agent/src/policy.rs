//! The decision before every action: run it, ask about it, or deny it.

use crate::{
    defect::{Defect, Defects},
    readonly,
    settings::Policy,
    tools::{Action, ToolCall},
    workspace::{Place, Workspace},
};

/// What the policy says about one action. The reason is shown to the approver or to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Run,
    Ask(&'static str),
    Deny(&'static str),
}

/// What a session may do without asking.
#[derive(Debug)]
pub(crate) struct Rulebook {
    pub(crate) policy: Policy,
    pub(crate) network: bool,
    pub(crate) defects: Defects,
}

impl Rulebook {
    /// Rules on one action. Nothing said in any text is asked: only the policy, the action and
    /// where its file really is.
    pub(crate) fn rule(&self, action: &Action, workspace: &Workspace) -> Ruling {
        if self.policy == Policy::Full {
            return Ruling::Run;
        }
        let place = action.target.as_ref().map(|target| target.place);
        match &action.call {
            ToolCall::Read { .. } if place == Some(Place::OwnState) => {
                Ruling::Deny("the agent's state folder is not for reading")
            }
            ToolCall::Read { .. } => Ruling::Run,
            ToolCall::Shell { command, .. } => self.rule_on_shell(command, workspace),
            ToolCall::Write { .. } | ToolCall::Edit { .. } => self.rule_on_change(place),
        }
    }

    fn rule_on_shell(&self, command: &str, workspace: &Workspace) -> Ruling {
        let proven = readonly::prove(command, self.network).is_some_and(|words| {
            // The program may also look at the working folder without naming it.
            !workspace.may_reach_state(".")
                && !words.iter().skip(1).any(|word| workspace.may_reach_state(word))
        });
        match self.policy {
            _ if proven => Ruling::Run,
            Policy::ReadOnly if self.defects.has(Defect::ReadOnlyIgnored) => Ruling::Run,
            Policy::ReadOnly => {
                Ruling::Deny("policy read-only: the command is not provably read-only")
            }
            _ => Ruling::Ask("the command is not provably read-only"),
        }
    }

    fn rule_on_change(&self, place: Option<Place>) -> Ruling {
        match (self.policy, place) {
            (Policy::ReadOnly, _) => Ruling::Deny("policy read-only: no file is changed"),
            (Policy::Workspace, Some(Place::Inside)) => Ruling::Run,
            (_, Some(Place::OwnConfig | Place::OwnState)) => {
                Ruling::Ask("the file belongs to the agent's own rules or settings")
            }
            (_, Some(Place::Inside)) => Ruling::Ask("the action changes a file"),
            (_, Some(Place::Outside) | None) => Ruling::Ask("the file is outside the workspace"),
        }
    }
}

#[cfg(test)]
mod tests;
