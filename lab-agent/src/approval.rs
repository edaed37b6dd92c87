//! Approvals: one request an action, bound to exactly that action.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{
    defect::{Defect, Defects},
    tools::Action,
};

/// What the user decided about one approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// This action, this once.
    Allow,
    /// This exact action until the process ends.
    AllowSession,
    /// Not this time; the same action asks again.
    Deny,
}

/// The decisions that outlive their request.
///
/// Only grants are kept: a denial needs no memory, because an action without a grant asks again.
/// Grants die with the process and are in no session file, so a resumed session is never wider.
#[derive(Debug, Default)]
pub(crate) struct Approvals {
    raised: u64,
    granted: HashSet<Action>,
    tools: HashSet<&'static str>,
}

impl Approvals {
    /// The id of the next request: `approval-1`, `approval-2`, …
    pub(crate) fn next_id(&mut self) -> String {
        self.raised += 1;
        format!("approval-{}", self.raised)
    }

    /// Whether an earlier decision covers this action.
    pub(crate) fn covers(&self, action: &Action) -> bool {
        self.granted.contains(action) || self.tools.contains(action.call.tool())
    }

    /// Remembers what a decision says about later actions.
    pub(crate) fn remember(&mut self, action: &Action, decision: Decision, defects: &Defects) {
        if decision == Decision::Deny {
            return;
        }
        if defects.has(Defect::ApprovalCoversTool) {
            self.tools.insert(action.call.tool());
        }
        if decision == Decision::AllowSession {
            self.granted.insert(action.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::ToolCall;

    fn shell(command: &str) -> Action {
        Action {
            call: ToolCall::Shell { command: command.to_owned(), timeout_ms: None },
            target: None,
        }
    }

    #[test]
    fn a_session_grant_covers_that_action_and_no_other() {
        let mut approvals = Approvals::default();
        approvals.remember(&shell("make"), Decision::AllowSession, &Defects::default());
        assert!(approvals.covers(&shell("make")));
        assert!(!approvals.covers(&shell("make ")));
        assert!(!approvals.covers(&shell("make all")));
    }

    #[test]
    fn a_single_allow_and_a_denial_leave_nothing_behind() {
        let mut approvals = Approvals::default();
        approvals.remember(&shell("make"), Decision::Allow, &Defects::default());
        approvals.remember(&shell("make"), Decision::Deny, &Defects::default());
        assert!(!approvals.covers(&shell("make")));
    }

    #[test]
    fn the_defect_lets_one_decision_cover_the_tool() {
        let mut approvals = Approvals::default();
        let defects = [Defect::ApprovalCoversTool].into_iter().collect();
        approvals.remember(&shell("make"), Decision::Allow, &defects);
        assert!(approvals.covers(&shell("rm -r build")));
    }
}
