//! The stream-json driver of Claude Code: one process, a line of JSON for each message.
//!
//! A prompt is a `user` line, and its turn is over with the `result` line. Permission is asked for
//! by a `control_request` of the subtype `can_use_tool`. An interrupt is a `control_request` of ours. A
//! steer is a further `user` line; the protocol has no word for its having been taken, so a question
//! follows it whose answer shows that the line before was read. The agent repeats a line when it
//! begins to work on it (`--replay-user-messages`): one that was not repeated before a turn's result
//! gets a turn of its own right after. Closing standard input ends the process.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::context::{Context, DriverError, shortened};
use super::dialogue::{Approval, Dialogue, TurnOutcome};
use super::interjection::{Action, Interjection, Interjections};
use super::json_rpc::text;
use super::peer::{Heard, Peer};
use crate::scenario::Approver;

/// What the model reads when a call was refused.
const REFUSAL: &str = "The user refused this.";

/// The stream-json driver.
#[derive(Debug)]
pub struct StreamJson<'a> {
    peer: Peer<'a>,
    dialogue: Dialogue,
    /// What was said during the turn and is not answered yet, by the id of the request.
    said: VecDeque<(String, Interjection)>,
    /// Steers that the agent has not begun to work on.
    waiting: Vec<String>,
    /// The number of the last request made.
    last_request: u64,
    /// Whether the history was compacted since the last order to do so.
    compacted: bool,
}

impl<'a> StreamJson<'a> {
    pub(super) async fn open(context: Context<'a>) -> Result<Self, DriverError> {
        Ok(Self {
            peer: Peer::start(context).await?,
            dialogue: Dialogue::default(),
            said: VecDeque::new(),
            waiting: Vec::new(),
            last_request: 0,
            compacted: false,
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
        let outcome = self.take_turn(text, interjections).await;
        // What the agent has not taken by now did not reach this turn.
        self.said.clear();
        self.waiting.clear();
        self.dialogue.turns.push(outcome.as_ref().cloned().unwrap_or(TurnOutcome::FAILED));
        outcome
    }

    pub(super) async fn compact(&mut self) -> Result<TurnOutcome, DriverError> {
        self.compacted = false;
        let outcome = self.take_turn("/compact", &mut Interjections::none()).await?;
        // The turn of an order that failed ends well, too.
        Ok(TurnOutcome { succeeded: outcome.succeeded && self.compacted, ..outcome })
    }

    pub(super) async fn resume(&mut self) -> Result<(), DriverError> {
        let context = self.peer.context.resumed("stream-json")?;
        self.say_goodbye().await?;
        self.peer.restart(context, &mut self.dialogue).await
    }

    pub(super) async fn close(mut self) -> Result<Dialogue, DriverError> {
        self.say_goodbye().await?;
        self.peer.end(self.dialogue).await
    }

    async fn say_goodbye(&mut self) -> Result<(), DriverError> {
        self.peer.hang_up();
        // An agent that is told to end may still ask; garbage no longer matters.
        while let Some(line) = self.peer.next().await? {
            drop(self.read(&line));
        }
        Ok(())
    }

    async fn take_turn(
        &mut self,
        words: &str,
        interjections: &mut Interjections,
    ) -> Result<TurnOutcome, DriverError> {
        // What such an agent still said belongs to an earlier turn.
        if self.is_over() {
            return Ok(TurnOutcome::FAILED);
        }
        self.say(words);
        loop {
            match self.peer.hear(interjections).await? {
                Heard::Line(line) => {
                    if let Some(outcome) = self.read(&line)? {
                        return Ok(outcome);
                    }
                }
                Heard::Interjection(interjection) => self.interject(interjection),
                Heard::End => return Ok(TurnOutcome::FAILED),
            }
        }
    }

    /// Sends the user's words.
    fn say(&self, words: &str) {
        let message = json!({"role": "user", "content": words});
        self.peer.send(&json!({
            "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "",
        }));
    }

    fn interject(&mut self, interjection: Interjection) {
        let subtype = match &interjection.action {
            Action::Steer(words) => {
                self.say(words);
                self.waiting.push(words.clone());
                // Whatever it answers, it has read what stood before.
                "ping"
            }
            Action::Interrupt => "interrupt",
        };
        self.last_request += 1;
        let id = format!("conform-{}", self.last_request);
        let request = json!({"subtype": subtype});
        self.peer.send(&json!({"type": "control_request", "request_id": id, "request": request}));
        self.said.push_back((id, interjection));
    }

    /// Acts upon a line; the outcome when it ends the turn.
    fn read(&mut self, line: &[u8]) -> Result<Option<TurnOutcome>, DriverError> {
        let wrong = |problem: String| DriverError::Output { problem, line: shortened(line) };
        let message: Value = serde_json::from_slice(line)
            .map_err(|error| wrong(format!("a line is not JSON ({error})")))?;
        let kind = text(&message, "/type")
            .ok_or_else(|| wrong("a line has no string `type`".to_owned()))?;
        match kind {
            "result" => {
                let outcome = result(&message).map_err(wrong)?;
                // A failed turn is followed by nothing that could be waited for.
                let goes_on = outcome.succeeded && !self.waiting.is_empty();
                return Ok(Some(outcome).filter(|_| !goes_on));
            }
            "user" => self.note_repeated(&message),
            "control_request" => self.answer(&message).map_err(wrong)?,
            "control_response" => self.note_answer(&message),
            "system" => {
                self.compacted |= text(&message, "/subtype") == Some("compact_boundary");
            }
            // Everything else is kept in the transcript and not acted upon.
            _ => {}
        }
        Ok(None)
    }

    /// Answers a request of the agent.
    fn answer(&mut self, message: &Value) -> Result<(), String> {
        let id = message.get("request_id").filter(|id| !id.is_null());
        let id = id.ok_or("a request has no `request_id`")?;
        let subtype = text(message, "/request/subtype").ok_or("a request has no `subtype`")?;
        if subtype != "can_use_tool" {
            self.dialogue.unanswered.push(subtype.to_owned());
            let error = format!("conform cannot answer {subtype}");
            let response = json!({"subtype": "error", "request_id": id, "error": error});
            self.peer.send(&json!({"type": "control_response", "response": response}));
            return Ok(());
        }
        let input = message.pointer("/request/input").cloned().unwrap_or_else(|| json!({}));
        let tool = text(message, "/request/tool_name").unwrap_or("a tool without a name");
        // After the end of the dialogue nobody hears the answer.
        let allowed = self.peer.context.approver == Approver::Allow && self.peer.is_listening();
        self.dialogue.approvals.push(Approval {
            call_id: text(message, "/request/tool_use_id").map(str::to_owned),
            action: format!("{tool} {input}"),
            allowed,
        });
        let decision = if allowed {
            json!({"behavior": "allow", "updatedInput": input})
        } else {
            json!({"behavior": "deny", "message": REFUSAL})
        };
        let response = json!({"subtype": "success", "request_id": id, "response": decision});
        self.peer.send(&json!({"type": "control_response", "response": response}));
        Ok(())
    }

    /// A message of the user that the agent repeats, because it begins to work on it.
    fn note_repeated(&mut self, message: &Value) {
        let says = |words: &String| match message.pointer("/message/content") {
            Some(Value::String(content)) => content == words,
            Some(Value::Array(parts)) => {
                parts.iter().any(|part| text(part, "/text") == Some(words))
            }
            _ => false,
        };
        self.waiting.retain(|words| !says(words));
    }

    /// An answer to one of our requests.
    fn note_answer(&mut self, message: &Value) {
        let id = text(message, "/response/request_id");
        let Some(at) = self.said.iter().position(|(request, _)| Some(&**request) == id) else {
            return;
        };
        let Some((_, said)) = self.said.remove(at) else { return };
        let granted = text(message, "/response/subtype") == Some("success");
        match &said.action {
            Action::Interrupt if !granted => {
                let words = text(message, "/response/error").unwrap_or("without a reason");
                said.refused(words.to_owned());
            }
            Action::Interrupt | Action::Steer(_) => said.taken(),
        }
    }
}

/// How a turn went, by its `result` line.
fn result(message: &Value) -> Result<TurnOutcome, String> {
    let is_error = message.get("is_error").and_then(Value::as_bool);
    let is_error = is_error.ok_or("a result does not say whether it `is_error`")?;
    let succeeded = !is_error && text(message, "/subtype") == Some("success");
    let final_text = text(message, "/result").map(str::to_owned);
    Ok(TurnOutcome { succeeded, final_text })
}
