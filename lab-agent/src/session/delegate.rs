//! Sub-agents: a task worked on with a history of its own, under the parent's permissions.

use super::{
    life::{Session, SessionError},
    turn::TurnEnd,
};
use crate::{
    defect::Defect,
    history::{Entry, History, Origin},
    request,
    settings::Policy,
    tools::Outcome,
};

/// What waits while a sub-agent works.
pub(super) struct Parent {
    history: History,
    tokens: u64,
}

impl Session {
    /// Has a sub-agent work on a task, and gives its answer. It knows the task, the project's rules
    /// and what is permitted; nothing that was said to its parent.
    pub(super) async fn delegate(&mut self, task: &str) -> Result<Outcome, SessionError> {
        let own = self.history_for(task);
        self.parent = Some(Parent {
            history: std::mem::replace(&mut self.history, own),
            tokens: std::mem::take(&mut self.tokens),
        });
        let policy = self.rulebook.policy;
        if self.settings.has(Defect::SubAgentWider) {
            self.rulebook.policy = Policy::Full;
        }
        let end = Box::pin(self.sample_until_final()).await;
        self.rulebook.policy = policy;
        if let Some(Parent { history, tokens }) = self.parent.take() {
            self.history = history;
            self.tokens = tokens;
        }
        Ok(match end? {
            TurnEnd::Completed { final_text } => Outcome::ok(final_text),
            TurnEnd::Interrupted => Outcome::interrupted("stopped by the user while it worked"),
            TurnEnd::Failed { .. } if self.settings.has(Defect::SubAgentFailureHidden) => {
                Outcome::ok("")
            }
            TurnEnd::Failed { error } => Outcome::error(format!("the sub-agent failed: {error}")),
        })
    }

    fn history_for(&self, task: &str) -> History {
        let mut history = History::default();
        history.extend(request::context(&self.settings, &self.rules));
        if self.settings.has(Defect::SubAgentKnowsAll) {
            let said = self.history.entries().iter().filter(|entry| entry.origin == Origin::User);
            history.extend(said.cloned());
        }
        history.extend([Entry::new(Origin::User, request::task(task))]);
        history
    }
}
