//! The course of a run: the steps in their order, and what is said in the middle of a turn.
//!
//! Nothing here goes by time. What is said waits for a moment that the mock's journal shows; what
//! the model says next waits for a gate that opens once the agent has taken it.

use conform_mock_server::gate::Gates;
use conform_mock_server::journal::{Exchange, Journal, Outcome, Route};
use tokio::sync::watch;

use super::session::SessionError;
use crate::agent::profile::Profile;
use crate::case::{CaseInterjection, CaseStep, Places};
use crate::driver::{Action, Driver, Interjections, Interjector, Taken, TurnOutcome};
use crate::evidence::{Course, Snapshot};
use crate::sandbox::CaseFolder;
use crate::scenario::{Moment, Said, Zone};

/// Where the steps of one run are made.
#[derive(Debug)]
pub(super) struct Track<'a> {
    /// Where files of the case stand for this agent.
    pub(super) profile: &'a Profile,
    pub(super) places: &'a Places,
    pub(super) folder: &'a CaseFolder,
    pub(super) journal: &'a Journal,
    pub(super) gates: &'a Gates,
    /// The case tree as it was; what the harness itself changes is no change of the agent's.
    pub(super) before: &'a mut Snapshot,
    pub(super) course: Course,
}

impl Track<'_> {
    /// Makes the steps, until the agent is over.
    pub(super) async fn follow(
        &mut self,
        driver: &mut Driver<'_>,
        steps: &[CaseStep],
    ) -> Result<(), SessionError> {
        for step in steps {
            match step {
                CaseStep::User { text, during } => {
                    self.prompt(driver, &text.resolve(self.places), during).await?;
                }
                CaseStep::Write { path, text } => {
                    let text = text.resolve(self.places);
                    let path = self.profile.path_in_tree(Zone::Workspace, path);
                    super::session::plant(self.folder, &path, &text, false)?;
                    let root = self.folder.root();
                    self.before.adopt(root, &root.join(path));
                }
                CaseStep::Compact => {
                    let TurnOutcome { succeeded, .. } = driver.compact().await?;
                    self.course.compactions.push(succeeded);
                    self.course.seams.push(self.journal.counts().exchanges);
                }
                CaseStep::Resume => {
                    driver.resume().await?;
                    self.course.seams.push(self.journal.counts().exchanges);
                }
            }
            if driver.is_over() {
                break;
            }
        }
        Ok(())
    }

    async fn prompt(
        &mut self,
        driver: &mut Driver<'_>,
        text: &str,
        during: &[CaseInterjection],
    ) -> Result<(), SessionError> {
        let (interjector, mut interjections) = Interjections::channel();
        let (ending, ended) = watch::channel(false);
        let turn = async {
            let outcome = driver.prompt(text, &mut interjections).await;
            ending.send_replace(true);
            outcome
        };
        let (outcome, missed) = tokio::join!(turn, self.interject(&interjector, during, ended));
        self.course.missed.extend(missed);
        outcome?;
        Ok(())
    }

    /// Says one thing after the other, each at its moment; gives back what was not taken, and why.
    async fn interject(
        &self,
        interjector: &Interjector,
        during: &[CaseInterjection],
        mut ended: watch::Receiver<bool>,
    ) -> Vec<String> {
        let mut missed = Vec::new();
        for CaseInterjection { moment, said, gate } in during {
            let what = match said {
                Said::Steer(_) => "the steer",
                Said::Interrupt => "the interrupt",
            };
            let action = match said {
                Said::Steer(text) => Action::Steer(text.resolve(self.places)),
                Said::Interrupt => Action::Interrupt,
            };
            let taken = async {
                self.journal
                    .wait_until(|exchanges| exchanges.iter().any(|one| is_at(one, moment)))
                    .await;
                interjector.say(action).await
            };
            let taken = tokio::select! {
                // What was taken in the turn's last moment was taken.
                biased;
                taken = taken => taken,
                // Fails only when the turn was dropped, and then nobody asks.
                _ = ended.wait_for(|ended| *ended) => None,
            };
            missed.extend(match taken {
                Some(Taken::Yes) => None,
                Some(Taken::Refused(words)) => Some(format!("the agent refused {what}: {words}")),
                None => Some(format!("the turn was over before the agent took {what}")),
            });
            // Whatever became of it, the model goes on: the record tells.
            self.gates.open(gate);
        }
        missed
    }
}

/// Whether the exchange is this moment.
fn is_at(exchange: &Exchange, moment: &Moment) -> bool {
    match (&exchange.route, moment) {
        (Route::Model(model), Moment::Asked(turn)) => match &model.outcome {
            Outcome::Served(served) => served.label == *turn,
            Outcome::Faulted { turn: label } => label == turn,
            _ => false,
        },
        (Route::Page { name, found: true }, Moment::Fetched(page)) => name == page,
        _ => false,
    }
}
