//! What is said to an agent while it works: steers and interrupts.
//!
//! The harness decides when (a moment that the mock or the agent shows), the driver how. An
//! [`Interjector`] hands over one action at a time and learns whether the agent took it, so that a
//! reply of the model can wait for exactly that.

use tokio::sync::{mpsc, oneshot};

/// Something said in the middle of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A message to the running turn.
    Steer(String),
    /// The order to stop.
    Interrupt,
}

/// An action on its way to the agent.
#[derive(Debug)]
pub struct Interjection {
    /// What is said.
    pub action: Action,
    answer: oneshot::Sender<Taken>,
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// The agent has it: it said so, or its protocol has no word for that and it was written.
    Yes,
    /// The agent refused it, in these words.
    Refused(String),
}

impl Interjection {
    /// The agent has it.
    pub(super) fn taken(self) {
        self.tell(Taken::Yes);
    }

    /// The agent refused it.
    pub(super) fn refused(self, words: String) {
        self.tell(Taken::Refused(words));
    }

    fn tell(self, taken: Taken) {
        // Fails only when the run was dropped meanwhile; then nobody asks.
        let _ = self.answer.send(taken);
    }
}

/// The driver's end: actions for the turn that runs.
#[derive(Debug)]
pub struct Interjections(mpsc::Receiver<Interjection>);

/// The harness's end.
#[derive(Debug, Clone)]
pub struct Interjector(mpsc::Sender<Interjection>);

impl Interjections {
    /// A pair for one turn.
    pub fn channel() -> (Interjector, Self) {
        let (sender, receiver) = mpsc::channel(1);
        (Interjector(sender), Self(receiver))
    }

    /// For a turn in which nothing more is said.
    pub fn none() -> Self {
        Self::channel().1
    }

    /// The next action; waits for ever when there is none. May be cancelled and called again.
    pub(super) async fn next(&mut self) -> Interjection {
        match self.0.recv().await {
            Some(interjection) => interjection,
            None => std::future::pending().await,
        }
    }
}

impl Interjector {
    /// Says it, and waits for what becomes of it. `None`: the turn was over first.
    pub async fn say(&self, action: Action) -> Option<Taken> {
        let (answer, taken) = oneshot::channel();
        self.0.send(Interjection { action, answer }).await.ok()?;
        taken.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_said_is_answered() {
        let (interjector, mut interjections) = Interjections::channel();
        let said = tokio::spawn(async move { interjector.say(Action::Interrupt).await });
        let heard = interjections.next().await;
        assert_eq!(heard.action, Action::Interrupt);
        heard.refused("no turn runs".to_owned());
        assert_eq!(said.await.unwrap(), Some(Taken::Refused("no turn runs".to_owned())));
    }

    #[tokio::test]
    async fn a_turn_that_is_over_takes_nothing() {
        let (interjector, interjections) = Interjections::channel();
        drop(interjections);
        assert_eq!(interjector.say(Action::Interrupt).await, None);
    }
}
