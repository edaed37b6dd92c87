//! The driver of the Agent Client Protocol: one process, one session, `session/prompt` for each
//! prompt.
//!
//! `initialize`, `session/new`, `session/set_mode` where the policy names a mode; the turn is over
//! with the answer to its prompt, and the text since the last call of a tool is the final text.
//! Closing standard input ends the process.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::acp_message::{Decision, Update, VERSION, action, cancel, initialize, is_success};
use super::acp_message::{prompt, request, session};
use super::context::{AcpSettings, Context, DriverError, shortened};
use super::dialogue::{Approval, Dialogue, TurnOutcome};
use super::interjection::{Action, Interjection, Interjections};
use super::json_rpc::{Message, text};
use super::peer::{Heard, Peer};
use crate::agent::profile::{AcpCompact, AcpSteer};
use crate::agent::template::render;
use crate::scenario::Approver;

/// The error code of an unknown method in JSON-RPC.
const METHOD_NOT_FOUND: i32 = -32601;

/// The driver of the Agent Client Protocol.
#[derive(Debug)]
pub struct Acp<'a> {
    peer: Peer<'a>,
    dialogue: Dialogue,
    settings: AcpSettings,
    session: Session,
    /// The number of the last request made.
    last_request: u64,
    /// The request whose answer is waited for.
    awaited: Option<u64>,
    /// Steers that are not answered yet, by request; without the interjection when its turn is
    /// over.
    steers: HashMap<u64, Option<Interjection>>,
    /// The interrupt that the agent has not yet obeyed.
    interrupt: Option<Interjection>,
    /// What the calls that were announced will do, by call.
    actions: HashMap<String, String>,
    /// The model's text since the last call of a tool.
    text: String,
}

/// The one session.
#[derive(Debug)]
enum Session {
    /// None yet.
    New,
    /// Known from a process that has ended.
    Known(String),
    /// Open in this process.
    Open(String),
}

/// The answer to a request; a refusal in the agent's words.
type Answer = Result<Value, String>;

impl<'a> Acp<'a> {
    pub(super) async fn open(context: Context<'a>) -> Result<Self, DriverError> {
        let settings = context.launch.acp.clone();
        Ok(Self {
            peer: Peer::start(context).await?,
            dialogue: Dialogue::default(),
            settings,
            session: Session::New,
            last_request: 0,
            awaited: None,
            steers: HashMap::new(),
            interrupt: None,
            actions: HashMap::new(),
            text: String::new(),
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
        // A steer that the agent has not answered by now did not reach this turn.
        self.steers.values_mut().for_each(|steer| *steer = None);
        self.interrupt = None;
        self.dialogue.turns.push(outcome.as_ref().cloned().unwrap_or(TurnOutcome::FAILED));
        outcome
    }

    pub(super) async fn compact(&mut self) -> Result<TurnOutcome, DriverError> {
        let order = self.settings.words.compact.clone();
        let AcpCompact { prompt, done } =
            order.ok_or(DriverError::Cannot { driver: "acp", action: "compact" })?;
        let outcome = self.take_turn(&prompt, &mut Interjections::none()).await?;
        let Some(done) = done.filter(|_| outcome.succeeded) else { return Ok(outcome) };
        // Some answer at once and compact in the background.
        let mut said = outcome.final_text.unwrap_or_default();
        while !said.contains(&done) {
            let Some(line) = self.peer.next().await? else { return Ok(TurnOutcome::FAILED) };
            self.read(&line)?;
            said.clone_from(&self.text);
        }
        Ok(TurnOutcome { succeeded: true, final_text: Some(said) })
    }

    pub(super) async fn resume(&mut self) -> Result<(), DriverError> {
        let context = self.peer.context.clone();
        self.say_goodbye().await?;
        self.peer.restart(context, &mut self.dialogue).await?;
        self.session = match std::mem::replace(&mut self.session, Session::New) {
            Session::Open(id) | Session::Known(id) => Session::Known(id),
            Session::New => Session::New,
        };
        self.awaited = None;
        self.steers.clear();
        self.actions.clear();
        Ok(())
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
        let Some(session) = self.session().await? else { return Ok(TurnOutcome::FAILED) };
        self.text.clear();
        let params = prompt(&session, words);
        let Some(answer) = self.ask("session/prompt", &params, interjections).await? else {
            return Ok(TurnOutcome::FAILED);
        };
        let final_text = Some(self.text.clone()).filter(|text| !text.trim().is_empty());
        // An agent that cannot go on answers with an error; its words are in the transcript.
        let Ok(answer) = answer else { return Ok(TurnOutcome { succeeded: false, final_text }) };
        let reason = text(&answer, "/stopReason");
        let succeeded = reason.and_then(is_success).ok_or_else(|| {
            wrong("the answer to a prompt has no `stopReason` that is known", &answer)
        })?;
        if reason == Some("cancelled")
            && let Some(interrupt) = self.interrupt.take()
        {
            interrupt.taken();
        }
        Ok(TurnOutcome { succeeded, final_text })
    }

    /// The session, opened if need be; `None` when the agent or its time ended first.
    async fn session(&mut self) -> Result<Option<String>, DriverError> {
        let known = match &self.session {
            Session::Open(id) => return Ok(Some(id.clone())),
            Session::Known(id) => Some(id.clone()),
            Session::New => None,
        };
        let Some(about) = self.call("initialize", &initialize()).await? else { return Ok(None) };
        if about.get("protocolVersion").and_then(Value::as_u64) != Some(VERSION) {
            return Err(wrong("the agent speaks another version of the protocol", &about));
        }
        let folder = self.peer.context.launch.directory.clone();
        let params = session(&folder, known.as_deref());
        let id = if let Some(id) = known {
            if about.pointer("/agentCapabilities/loadSession") != Some(&Value::Bool(true)) {
                return Err(DriverError::Cannot { driver: "acp", action: "resume" });
            }
            if self.call("session/load", &params).await?.is_none() {
                return Ok(None);
            }
            id
        } else {
            let Some(answer) = self.call("session/new", &params).await? else { return Ok(None) };
            let id = text(&answer, "/sessionId");
            id.ok_or_else(|| wrong("the answer to session/new has no `sessionId`", &answer))?
                .to_owned()
        };
        if let Some(mode) = &self.settings.mode {
            let params = json!({"sessionId": id, "modeId": mode});
            if self.call("session/set_mode", &params).await?.is_none() {
                return Ok(None);
            }
        }
        self.session = Session::Open(id.clone());
        Ok(Some(id))
    }

    /// Makes a request that must be granted; `None` when the agent or its time ended first.
    async fn call(
        &mut self,
        method: &'static str,
        params: &Value,
    ) -> Result<Option<Value>, DriverError> {
        let answer = self.ask(method, params, &mut Interjections::none()).await?;
        answer.transpose().map_err(|message| DriverError::Refused {
            method,
            message: shortened(message.as_bytes()),
        })
    }

    /// Makes a request and waits for its answer; `None` when the agent or its time ended first.
    async fn ask(
        &mut self,
        method: &'static str,
        params: &Value,
        interjections: &mut Interjections,
    ) -> Result<Option<Answer>, DriverError> {
        self.awaited = Some(self.send(method, params));
        loop {
            match self.peer.hear(interjections).await? {
                Heard::Line(line) => {
                    if let Some(answer) = self.read(&line)? {
                        return Ok(Some(answer));
                    }
                }
                Heard::Interjection(interjection) => self.interject(interjection)?,
                Heard::End => return Ok(None),
            }
        }
    }

    /// Sends a request; its number.
    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_request += 1;
        self.peer.send(&request(self.last_request, method, params));
        self.last_request
    }

    fn interject(&mut self, interjection: Interjection) -> Result<(), DriverError> {
        let Session::Open(session) = &self.session else { return Ok(()) };
        let session = session.clone();
        match &interjection.action {
            // The end of the turn tells what became of it.
            Action::Interrupt => {
                self.peer.send(&cancel(&session));
                self.interrupt = Some(interjection);
            }
            Action::Steer(words) => {
                let (method, params) = self.steer(&session, words)?;
                let number = self.send(&method, &params);
                self.steers.insert(number, Some(interjection));
            }
        }
        Ok(())
    }

    /// The request that steers.
    fn steer(&self, session: &str, words: &str) -> Result<(String, Value), DriverError> {
        let cannot = DriverError::Cannot { driver: "acp", action: "steer" };
        let id = format!("steer-{}", self.last_request + 1);
        let values = [session.to_owned(), words.to_owned(), id];
        let values: Vec<(&str, String)> = AcpSteer::VALUES.into_iter().zip(values).collect();
        // The profile was checked, so every template can be filled.
        let fill = |template: &str| render(template, values.as_slice()).ok();
        let request = match &self.settings.words.steer {
            None => None,
            Some(AcpSteer::Prompt(template)) => {
                fill(template).map(|words| ("session/prompt".to_owned(), prompt(session, &words)))
            }
            Some(AcpSteer::Request { method, params }) => {
                let filled = params.iter().map(|(name, text)| Some((name.clone(), fill(text)?)));
                let filled: Option<HashMap<String, String>> = filled.collect();
                filled.map(|params| (method.clone(), json!(params)))
            }
        };
        request.ok_or(cannot)
    }

    /// Acts upon a line; gives back the answer that was waited for.
    fn read(&mut self, line: &[u8]) -> Result<Option<Answer>, DriverError> {
        let garbage = |problem: String| DriverError::Output { problem, line: shortened(line) };
        match Message::parse(line).map_err(garbage)? {
            Message::Request { id, method, params } => {
                self.answer(&id, &method, &params);
                Ok(None)
            }
            Message::Notification { method, params } => {
                if method == "session/update" {
                    self.note(&params).map_err(garbage)?;
                }
                Ok(None)
            }
            Message::Response { id, answer } => {
                let number = id.as_u64();
                if number.is_some() && number == self.awaited {
                    self.awaited = None;
                    return Ok(Some(answer));
                }
                // Else an answer to nothing would pass for the answer to the next request.
                let steer = number.and_then(|number| self.steers.remove(&number));
                let steer = steer
                    .ok_or_else(|| garbage("an answer belongs to no open request".to_owned()))?;
                match (steer, answer) {
                    (Some(steer), Ok(_)) => steer.taken(),
                    (Some(steer), Err(words)) => steer.refused(words),
                    (None, _) => {}
                }
                Ok(None)
            }
        }
    }

    /// Answers a request of the agent, whichever session it comes from.
    fn answer(&mut self, id: &Value, method: &str, params: &Value) {
        if method != "session/request_permission" {
            self.dialogue.unanswered.push(method.to_owned());
            let message = format!("conform cannot answer {method}");
            let error = json!({"code": METHOD_NOT_FOUND, "message": message});
            self.peer.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            return;
        }
        // After the end of the dialogue nobody hears the answer.
        let approver = match self.peer.context.approver {
            Approver::Allow if self.peer.is_listening() => Approver::Allow,
            Approver::Allow | Approver::Deny => Approver::Deny,
        };
        let decision = Decision::choose(params, approver);
        if decision == Decision::NotOffered {
            self.dialogue.unanswered.push(format!("{method} without the option that is needed"));
        }
        let call = text(params, "/toolCall/toolCallId");
        let shown = params.get("toolCall").and_then(action);
        let announced = call.and_then(|call| self.actions.get(call)).cloned();
        self.dialogue.approvals.push(Approval {
            call_id: call.map(str::to_owned),
            action: shown
                .or(announced)
                .unwrap_or_else(|| "an action that the agent does not show".to_owned()),
            allowed: approver == Approver::Allow && decision != Decision::NotOffered,
        });
        self.peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": decision.result()}));
    }

    /// Takes note of what the agent tells of our session; or says what is wrong with it.
    fn note(&mut self, params: &Value) -> Result<(), String> {
        let update = Update::read(params)?;
        let Session::Open(session) = &self.session else { return Ok(()) };
        if text(params, "/sessionId") != Some(session) {
            return Ok(());
        }
        match update {
            Update::Text(text) => self.text.push_str(text),
            Update::Call { id, action } => {
                self.text.clear();
                if let Some(action) = action {
                    self.actions.insert(id.to_owned(), action);
                }
            }
            Update::Other => {}
        }
        Ok(())
    }
}

fn wrong(problem: &str, answer: &Value) -> DriverError {
    DriverError::Output {
        problem: problem.to_owned(),
        line: shortened(answer.to_string().as_bytes()),
    }
}
