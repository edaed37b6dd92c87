//! The rpc driver of Pi: one process, a line of JSON for each message.
//!
//! A prompt is over when the agent says that it has settled; the last message of the model holds the
//! final text. Steers, aborts and compactions are requests that are answered. Pi asks nobody by
//! itself: an extension that the profile brings asks for a confirmation with the title `conform`,
//! whose message is a JSON object with the call's `id`, its `tool` and its `input`. Closing standard
//! input ends the process.

use serde_json::{Value, json};

use super::context::{Context, DriverError, shortened};
use super::dialogue::{Approval, Dialogue, TurnOutcome};
use super::interjection::{Action, Interjection, Interjections};
use super::json_rpc::text;
use super::peer::{Heard, Peer};
use crate::scenario::Approver;

/// The title of a confirmation that the profile's extension asks for.
const TITLE: &str = "conform";

/// The rpc driver.
#[derive(Debug)]
pub struct Rpc<'a> {
    peer: Peer<'a>,
    dialogue: Dialogue,
    /// The number of the last request made.
    last_request: u64,
    /// What was said during the turn and is not answered yet, by the request's number.
    said: Vec<(u64, Interjection)>,
    /// The model's last message in this turn.
    last_message: Option<TurnOutcome>,
}

/// What a line means for what is waited for.
enum Heeded {
    /// An answer to a request: its number, and the agent's words if it was refused.
    Answer(u64, Result<(), String>),
    /// The agent has nothing more to do; whether it was stopped.
    Settled { aborted: bool },
    /// Something else.
    Other,
}

impl<'a> Rpc<'a> {
    pub(super) async fn open(context: Context<'a>) -> Result<Self, DriverError> {
        let peer = Peer::start(context).await?;
        let dialogue = Dialogue::default();
        Ok(Self { peer, dialogue, last_request: 0, said: Vec::new(), last_message: None })
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
        // What the agent has not answered by now did not reach this turn.
        self.said.clear();
        self.dialogue.turns.push(outcome.as_ref().cloned().unwrap_or(TurnOutcome::FAILED));
        outcome
    }

    pub(super) async fn compact(&mut self) -> Result<TurnOutcome, DriverError> {
        if self.is_over() {
            return Ok(TurnOutcome::FAILED);
        }
        let order = self.send(json!({"type": "compact"}));
        while let Some(line) = self.peer.next().await? {
            if let Heeded::Answer(number, answer) = self.read(&line)?
                && number == order
            {
                return Ok(TurnOutcome { succeeded: answer.is_ok(), final_text: None });
            }
        }
        Ok(TurnOutcome::FAILED)
    }

    pub(super) async fn resume(&mut self) -> Result<(), DriverError> {
        let context = self.peer.context.resumed("rpc")?;
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
        self.last_message = None;
        let order = self.send(json!({"type": "prompt", "message": words}));
        let mut started = false;
        loop {
            match self.peer.hear(interjections).await? {
                Heard::Line(line) => match self.read(&line)? {
                    Heeded::Answer(number, answer) if number == order => {
                        if answer.is_err() {
                            return Ok(TurnOutcome::FAILED);
                        }
                        started = true;
                    }
                    Heeded::Answer(number, answer) => self.note_answer(number, answer),
                    // Else a second word about one turn would pass for the next turn's end.
                    Heeded::Settled { .. } if !started => {
                        return Err(DriverError::Output {
                            problem: "it settled before the prompt was taken".to_owned(),
                            line: shortened(&line),
                        });
                    }
                    Heeded::Settled { aborted } => {
                        if aborted {
                            // The answer to the order comes behind its effect.
                            self.obeyed();
                        }
                        let last = self.last_message.take().unwrap_or(TurnOutcome::FAILED);
                        return Ok(TurnOutcome { succeeded: last.succeeded && !aborted, ..last });
                    }
                    Heeded::Other => {}
                },
                Heard::Interjection(interjection) => self.interject(interjection),
                Heard::End => return Ok(TurnOutcome::FAILED),
            }
        }
    }

    /// Sends a request; its number.
    fn send(&mut self, mut request: Value) -> u64 {
        self.last_request += 1;
        request["id"] = json!(self.last_request.to_string());
        self.peer.send(&request);
        self.last_request
    }

    fn interject(&mut self, interjection: Interjection) {
        let request = match &interjection.action {
            Action::Steer(words) => json!({"type": "steer", "message": words}),
            Action::Interrupt => json!({"type": "abort"}),
        };
        let number = self.send(request);
        self.said.push((number, interjection));
    }

    fn note_answer(&mut self, number: u64, answer: Result<(), String>) {
        let Some(at) = self.said.iter().position(|(request, _)| *request == number) else { return };
        let (_, said) = self.said.remove(at);
        match answer {
            Ok(()) => said.taken(),
            Err(words) => said.refused(words),
        }
    }

    /// The agent has stopped, as it was told.
    fn obeyed(&mut self) {
        let is_interrupt = |said: &Interjection| said.action == Action::Interrupt;
        if let Some(at) = self.said.iter().position(|(_, said)| is_interrupt(said)) {
            self.said.remove(at).1.taken();
        }
    }

    /// Acts upon a line.
    fn read(&mut self, line: &[u8]) -> Result<Heeded, DriverError> {
        let wrong = |problem: &str| DriverError::Output {
            problem: problem.to_owned(),
            line: shortened(line),
        };
        let message: Value = serde_json::from_slice(line)
            .map_err(|error| wrong(&format!("a line is not JSON ({error})")))?;
        let kind = text(&message, "/type").ok_or_else(|| wrong("a line has no string `type`"))?;
        match kind {
            "response" => {
                let number = text(&message, "/id").and_then(|id| id.parse().ok());
                let number = number.ok_or_else(|| wrong("an answer has no `id` of ours"))?;
                let success = message.get("success").and_then(Value::as_bool);
                let success = success.ok_or_else(|| wrong("an answer has no `success`"))?;
                let words = text(&message, "/error").unwrap_or("without a reason");
                let answer = if success { Ok(()) } else { Err(words.to_owned()) };
                return Ok(Heeded::Answer(number, answer));
            }
            "agent_settled" => {
                let aborted = message.get("aborted").and_then(Value::as_bool) == Some(true);
                return Ok(Heeded::Settled { aborted });
            }
            "message_end" if text(&message, "/message/role") == Some("assistant") => {
                self.last_message = Some(model_message(&message));
            }
            "extension_ui_request" => self.answer(&message),
            // Everything else is kept in the transcript and not acted upon.
            _ => {}
        }
        Ok(Heeded::Other)
    }

    /// Answers a question of an extension. What only tells the user something has no answer.
    fn answer(&mut self, message: &Value) {
        let method = text(message, "/method").unwrap_or_default();
        if !matches!(method, "confirm" | "select" | "input" | "editor") {
            return;
        }
        let id = message.get("id").cloned().unwrap_or(Value::Null);
        let ours = method == "confirm" && text(message, "/title") == Some(TITLE);
        if !ours {
            self.dialogue.unanswered.push(method.to_owned());
            self.peer.send(&json!({"type": "extension_ui_response", "id": id, "cancelled": true}));
            return;
        }
        let about: Value = text(message, "/message")
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or(Value::Null);
        // After the end of the dialogue nobody hears the answer.
        let allowed = self.peer.context.approver == Approver::Allow && self.peer.is_listening();
        let input = about.get("input").map(Value::to_string).unwrap_or_default();
        self.dialogue.approvals.push(Approval {
            call_id: text(&about, "/id").map(str::to_owned),
            action: format!("{} {input}", text(&about, "/tool").unwrap_or("an unknown tool")),
            allowed,
        });
        self.peer.send(&json!({"type": "extension_ui_response", "id": id, "confirmed": allowed}));
    }
}

/// A message of the model as the outcome of a turn that ends with it.
fn model_message(message: &Value) -> TurnOutcome {
    let parts = message.pointer("/message/content").and_then(Value::as_array);
    let texts = parts.into_iter().flatten().filter_map(|part| text(part, "/text"));
    let said: String = texts.collect();
    TurnOutcome {
        succeeded: text(message, "/message/stopReason") == Some("stop"),
        final_text: Some(said).filter(|said| !said.is_empty()),
    }
}
