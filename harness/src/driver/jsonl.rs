//! The JSON-lines dialogue driver: the protocol of the lab agent, free for others to adopt.
//!
//! One JSON object a line. To the agent: `{"type":"prompt","text"}`,
//! `{"type":"approval","id","decision":"allow"|"allow_session"|"deny"}`, `{"type":"steer","text"}`,
//! `{"type":"interrupt"}`, `{"type":"compact"}`, `{"type":"close"}`. From
//! the agent: `turn.started`, then `approval.requested {id,call_id,tool,action}` as often as it asks,
//! then `turn.completed {final}`, `turn.failed {error}` or, after an interrupt, `turn.interrupted`. A steer is answered
//! by `steer.accepted`, a compaction by `compacted` or `compaction.failed {error}`. Any other event is kept
//! in the transcript and not acted upon.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::context::{Context, DriverError, shortened};
use super::dialogue::{Approval, Dialogue, TurnOutcome};
use super::interjection::{Action, Interjection, Interjections};
use super::peer::{Heard, Peer};
use crate::scenario::Approver;

/// The JSON-lines dialogue driver.
#[derive(Debug)]
pub struct Jsonl<'a> {
    peer: Peer<'a>,
    dialogue: Dialogue,
    /// Whether the agent said that it works on the last prompt.
    turn_started: bool,
    /// Steers that the agent has not yet accepted.
    steers: VecDeque<Interjection>,
    /// Whether the agent was told to compact: then it ends the turn, else it is a part of one.
    compacting: bool,
    /// The interrupt that the agent has not yet obeyed.
    interrupt: Option<Interjection>,
}

impl<'a> Jsonl<'a> {
    pub(super) async fn open(context: Context<'a>) -> Result<Self, DriverError> {
        let peer = Peer::start(context).await?;
        Ok(Self {
            peer,
            dialogue: Dialogue::default(),
            turn_started: false,
            compacting: false,
            steers: VecDeque::new(),
            interrupt: None,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.peer.is_over()
    }

    pub(super) async fn prompt(
        &mut self,
        text: &str,
        interjections: &mut Interjections,
    ) -> Result<TurnOutcome, DriverError> {
        let message = json!({"type": "prompt", "text": text});
        let outcome = self.take_turn(&message, interjections).await;
        self.dialogue.turns.push(outcome.as_ref().cloned().unwrap_or(TurnOutcome::FAILED));
        outcome
    }

    pub(super) async fn compact(&mut self) -> Result<TurnOutcome, DriverError> {
        self.compacting = true;
        let outcome = self.take_turn(&json!({"type": "compact"}), &mut Interjections::none()).await;
        self.compacting = false;
        outcome
    }

    pub(super) async fn resume(&mut self) -> Result<(), DriverError> {
        let context = self.peer.context.resumed("jsonl")?;
        self.say_goodbye().await?;
        self.peer.restart(context, &mut self.dialogue).await
    }

    async fn take_turn(
        &mut self,
        message: &Value,
        interjections: &mut Interjections,
    ) -> Result<TurnOutcome, DriverError> {
        // What such an agent still said belongs to an earlier turn.
        if self.is_over() {
            return Ok(TurnOutcome::FAILED);
        }
        self.turn_started = false;
        self.steers.clear();
        self.interrupt = None;
        self.peer.send(message);
        loop {
            match self.peer.hear(interjections).await? {
                Heard::Line(line) => {
                    if let ControlFlow::Break(outcome) = self.read_event(&line)? {
                        return Ok(outcome);
                    }
                }
                Heard::Interjection(interjection) => self.interject(interjection),
                Heard::End => return Ok(TurnOutcome::FAILED),
            }
        }
    }

    fn interject(&mut self, interjection: Interjection) {
        match &interjection.action {
            Action::Steer(text) => {
                self.peer.send(&json!({"type": "steer", "text": text}));
                self.steers.push_back(interjection);
            }
            // The end of the turn tells what became of it.
            Action::Interrupt => {
                self.peer.send(&json!({"type": "interrupt"}));
                self.interrupt = Some(interjection);
            }
        }
    }

    pub(super) async fn close(mut self) -> Result<Dialogue, DriverError> {
        self.say_goodbye().await?;
        self.peer.end(self.dialogue).await
    }

    async fn say_goodbye(&mut self) -> Result<(), DriverError> {
        self.peer.send(&json!({"type": "close"}));
        self.peer.hang_up();
        // An agent that is told to end may still ask; garbage no longer matters.
        while let Some(line) = self.peer.next().await? {
            drop(self.read_event(&line));
        }
        Ok(())
    }

    /// Acts upon an event; breaks with the outcome when it ends the turn.
    fn read_event(&mut self, line: &[u8]) -> Result<ControlFlow<TurnOutcome>, DriverError> {
        let wrong = |problem: String| DriverError::Output { problem, line: shortened(line) };
        let event: Value = serde_json::from_slice(line)
            .map_err(|error| wrong(format!("a line is not JSON ({error})")))?;
        let kind = event
            .get("type")
            .and_then(Value::as_str)
            .ok_or_else(|| wrong("a line has no string `type`".to_owned()))?;
        match kind {
            "approval.requested" => {
                let id = event
                    .get("id")
                    .filter(|id| !id.is_null())
                    .ok_or_else(|| wrong("an approval request has no `id`".to_owned()))?;
                // After the end of the dialogue nobody hears the answer.
                let (allowed, decision) = match self.peer.context.approver {
                    Approver::Allow if self.peer.is_listening() => (true, "allow"),
                    Approver::Allow | Approver::Deny => (false, "deny"),
                };
                self.dialogue.approvals.push(Approval {
                    call_id: event.get("call_id").and_then(Value::as_str).map(str::to_owned),
                    action: event.get("action").map(shown).unwrap_or_default(),
                    allowed,
                });
                self.peer.send(&json!({"type": "approval", "id": id, "decision": decision}));
            }
            "turn.started" => self.turn_started = true,
            // Else a second word about one turn would pass for the next turn's success.
            "turn.completed" if !self.turn_started => {
                return Err(wrong("a turn completed that had not started".to_owned()));
            }
            "turn.completed" => {
                let final_text = event.get("final").and_then(Value::as_str).map(str::to_owned);
                return Ok(ControlFlow::Break(TurnOutcome { succeeded: true, final_text }));
            }
            "steer.accepted" => {
                let steer = self.steers.pop_front();
                steer
                    .ok_or_else(|| wrong("a steer was accepted that nobody sent".to_owned()))?
                    .taken();
            }
            "compacted" if self.compacting => {
                return Ok(ControlFlow::Break(TurnOutcome { succeeded: true, final_text: None }));
            }
            "turn.interrupted" => {
                if let Some(interrupt) = self.interrupt.take() {
                    interrupt.taken();
                }
                return Ok(ControlFlow::Break(TurnOutcome::FAILED));
            }
            "compaction.failed" if !self.compacting => {}
            "turn.failed" | "compaction.failed" => {
                return Ok(ControlFlow::Break(TurnOutcome::FAILED));
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The action as text: a string as it is, anything else as JSON.
fn shown(action: &Value) -> String {
    action.as_str().map_or_else(|| action.to_string(), str::to_owned)
}
