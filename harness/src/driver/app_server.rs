//! The driver of the Codex app-server: one process, one thread, a turn for each prompt.
//!
//! `initialize`, `initialized`, `thread/start` with what the policy says, then `turn/start` for each
//! prompt; the turn is over with `turn/completed`, and its last agent message is the final text.
//! Meanwhile the user says `turn/steer` and `turn/interrupt`; between turns `thread/compact/start`,
//! which is a turn of its own. Closing standard input ends the process; another opens the thread
//! again with `thread/resume`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::app_server_message::{Message, Question, item_action, text};
use super::context::{Context, DriverError, ThreadSettings, shortened};
use super::dialogue::{Approval, Dialogue, TurnOutcome};
use super::interjection::{Action, Interjection, Interjections};
use super::peer::{Heard, Peer};
use crate::scenario::Approver;

/// The error code of an unknown method in JSON-RPC.
const METHOD_NOT_FOUND: i32 = -32601;

/// The driver of the Codex app-server.
#[derive(Debug)]
pub struct AppServer<'a> {
    peer: Peer<'a>,
    dialogue: Dialogue,
    settings: ThreadSettings,
    /// The thread, once it is open.
    thread: Option<String>,
    /// The number of the last request made.
    last_request: u64,
    /// Whether that one is not answered yet.
    is_waiting: bool,
    /// What was said in the middle of the turn, by the request that says it, until it is answered.
    said: HashMap<u64, Interjection>,
    /// What the items that were announced will do, by item.
    actions: HashMap<String, String>,
    turn: Turn,
}

/// The turn of the last prompt, as far as the agent spoke of it.
#[derive(Debug, Default)]
struct Turn {
    id: Option<String>,
    final_text: Option<String>,
    outcome: Option<TurnOutcome>,
}

/// The answer to a request.
type Answer = Result<Value, String>;

impl<'a> AppServer<'a> {
    pub(super) async fn open(context: Context<'a>) -> Result<Self, DriverError> {
        let settings = context.launch.thread.clone().ok_or(DriverError::NoThreadSettings)?;
        Ok(Self {
            peer: Peer::start(context).await?,
            dialogue: Dialogue::default(),
            settings,
            thread: None,
            last_request: 0,
            is_waiting: false,
            said: HashMap::new(),
            actions: HashMap::new(),
            turn: Turn::default(),
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
        let input = input(text);
        let outcome = self.take_turn("turn/start", Some(input), interjections).await;
        let outcome = outcome.map(|outcome| outcome.unwrap_or(TurnOutcome::FAILED));
        self.dialogue.turns.push(outcome.as_ref().cloned().unwrap_or(TurnOutcome::FAILED));
        outcome
    }

    /// The thread's history is compacted by a turn of its own.
    pub(super) async fn compact(&mut self) -> Result<TurnOutcome, DriverError> {
        let turn = self.take_turn("thread/compact/start", None, &mut Interjections::none()).await?;
        Ok(turn.unwrap_or(TurnOutcome::FAILED))
    }

    /// A new process opens the thread of the last one again.
    pub(super) async fn resume(&mut self) -> Result<(), DriverError> {
        let context = self.peer.context.clone();
        self.hang_up().await?;
        self.peer.restart(context, &mut self.dialogue).await?;
        self.is_waiting = false;
        self.said.clear();
        self.actions.clear();
        if let Some(thread) = self.thread.take() {
            self.open_thread("thread/resume", Some(thread)).await?;
        }
        Ok(())
    }

    pub(super) async fn close(mut self) -> Result<Dialogue, DriverError> {
        self.hang_up().await?;
        self.peer.end(self.dialogue).await
    }

    async fn hang_up(&mut self) -> Result<(), DriverError> {
        self.peer.hang_up();
        // An agent that is told to end may still ask; garbage no longer matters.
        while let Some(line) = self.peer.next().await? {
            drop(self.read(&line));
        }
        Ok(())
    }

    /// A turn that this request begins; `None` when the agent or its time ended first.
    async fn take_turn(
        &mut self,
        method: &'static str,
        input: Option<Value>,
        interjections: &mut Interjections,
    ) -> Result<Option<TurnOutcome>, DriverError> {
        // What such an agent still said belongs to an earlier turn.
        if self.is_over() {
            return Ok(None);
        }
        let Some(thread) = self.thread().await? else { return Ok(None) };
        self.turn = Turn::default();
        let mut params = json!({"threadId": thread});
        let is_named = input.is_some();
        if let Some(input) = input {
            params["input"] = input;
        }
        let Some(answer) = self.call(method, params).await? else { return Ok(None) };
        if is_named {
            self.begin_turn(id_of(&answer, "/turn/id", method)?)
                .map_err(|problem| wrong(problem, &answer))?;
        }
        // What was said is answered, even when the turn ends by it.
        while self.turn.outcome.is_none() || !self.said.is_empty() {
            match self.peer.hear(interjections).await? {
                Heard::Line(line) => {
                    self.read(&line)?;
                }
                Heard::Interjection(interjection) => self.interject(&thread, interjection),
                Heard::End => {
                    self.said.clear();
                    return Ok(None);
                }
            }
        }
        Ok(self.turn.outcome.take())
    }

    fn interject(&mut self, thread: &str, interjection: Interjection) {
        // Nothing runs that could be steered or stopped: that it was not taken is told by its drop.
        if self.turn.outcome.is_some() {
            return;
        }
        let (method, params) = match &interjection.action {
            Action::Steer(text) => {
                let turn = &self.turn.id;
                let params =
                    json!({"threadId": thread, "expectedTurnId": turn, "input": input(text)});
                ("turn/steer", params)
            }
            Action::Interrupt => {
                ("turn/interrupt", json!({"threadId": thread, "turnId": self.turn.id}))
            }
        };
        self.last_request += 1;
        self.said.insert(self.last_request, interjection);
        self.peer.send(&json!({"id": self.last_request, "method": method, "params": params}));
    }

    /// The thread, opened if need be.
    async fn thread(&mut self) -> Result<Option<String>, DriverError> {
        if self.thread.is_none() {
            self.open_thread("thread/start", None).await?;
        }
        Ok(self.thread.clone())
    }

    /// Opens a thread: a new one, or the one of this id.
    async fn open_thread(
        &mut self,
        method: &'static str,
        thread: Option<String>,
    ) -> Result<(), DriverError> {
        let client =
            json!({"name": "conform", "title": "conform", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"clientInfo": client, "capabilities": {"experimentalApi": true}});
        if self.call("initialize", params).await?.is_none() {
            return Ok(());
        }
        self.peer.send(&json!({"method": "initialized"}));
        let mut params = json!({
            "cwd": self.peer.context.launch.directory,
            "approvalPolicy": self.settings.approval_policy,
            "sandbox": self.settings.sandbox,
        });
        if let Some(thread) = thread {
            params["threadId"] = Value::from(thread);
        }
        if !self.settings.config.is_empty() {
            params["config"] = Value::Object(self.settings.config.clone());
        }
        let Some(answer) = self.call(method, params).await? else { return Ok(()) };
        self.thread = Some(id_of(&answer, "/thread/id", method)?);
        Ok(())
    }

    /// Makes a request and waits for its answer; `None` when the agent or its time ended first.
    async fn call(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Option<Value>, DriverError> {
        self.last_request += 1;
        self.is_waiting = true;
        self.peer.send(&json!({"id": self.last_request, "method": method, "params": params}));
        while let Some(line) = self.peer.next().await? {
            if let Some(answer) = self.read(&line)? {
                return answer.map(Some).map_err(|message| DriverError::Refused {
                    method,
                    message: shortened(message.as_bytes()),
                });
            }
        }
        Ok(None)
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
                self.note(&method, &params).map_err(garbage)?;
                Ok(None)
            }
            Message::Response { id, answer } => {
                if let Some(said) = id.as_u64().and_then(|id| self.said.remove(&id)) {
                    match answer {
                        Ok(_) => said.taken(),
                        Err(words) => said.refused(words),
                    }
                    return Ok(None);
                }
                // Else an answer to nothing would pass for the answer to the next request.
                if !self.is_waiting || id.as_u64() != Some(self.last_request) {
                    return Err(garbage("an answer belongs to no open request".to_owned()));
                }
                self.is_waiting = false;
                Ok(Some(answer))
            }
        }
    }

    /// Answers a request of the agent, whichever thread it comes from.
    fn answer(&mut self, id: &Value, method: &str, params: &Value) {
        let Some(question) = Question::of(method) else {
            self.dialogue.unanswered.push(method.to_owned());
            let message = format!("conform cannot answer {method}");
            let error = json!({"code": METHOD_NOT_FOUND, "message": message});
            self.peer.send(&json!({"id": id, "error": error}));
            return;
        };
        let item = text(params, "/itemId");
        let action = item.and_then(|item| self.actions.get(item)).map(String::as_str);
        // After the end of the dialogue nobody hears the answer.
        let allowed = self.peer.context.approver == Approver::Allow && self.peer.is_listening();
        self.dialogue.approvals.push(Approval {
            call_id: item.map(str::to_owned),
            action: question.action(params, action),
            allowed,
        });
        self.peer.send(&json!({"id": id, "result": question.answer(params, allowed)}));
    }

    /// Takes note of what the agent tells; or says what is wrong with it.
    fn note(&mut self, method: &str, params: &Value) -> Result<(), String> {
        if method == "item/started"
            && let (Some(id), Some(action)) =
                (text(params, "/item/id"), params.get("item").and_then(item_action))
        {
            self.actions.insert(id.to_owned(), action);
        }
        // A child agent has a thread, turns and messages of its own.
        if self.thread.is_none() || text(params, "/threadId") != self.thread.as_deref() {
            return Ok(());
        }
        match method {
            "turn/started" => match text(params, "/turn/id") {
                Some(id) => self.begin_turn(id.to_owned()),
                None => Err("a turn started without an id".to_owned()),
            },
            "item/completed" => {
                let is_ours =
                    self.turn.id.is_some() && text(params, "/turnId") == self.turn.id.as_deref();
                if is_ours && text(params, "/item/type") == Some("agentMessage") {
                    self.turn.final_text = text(params, "/item/text").map(str::to_owned);
                }
                Ok(())
            }
            "turn/completed" => self.end_turn(params),
            _ => Ok(()),
        }
    }

    /// The agent names the turn that it works on: in its answer, and in a notification.
    fn begin_turn(&mut self, id: String) -> Result<(), String> {
        match &self.turn.id {
            Some(known) if *known != id => Err("a turn started that nobody asked for".to_owned()),
            _ => {
                self.turn.id = Some(id);
                Ok(())
            }
        }
    }

    fn end_turn(&mut self, params: &Value) -> Result<(), String> {
        // Else a second word about one turn would pass for the next turn's success.
        if self.turn.id.is_none() || text(params, "/turn/id") != self.turn.id.as_deref() {
            return Err("a turn completed that had not started".to_owned());
        }
        let succeeded = match text(params, "/turn/status") {
            Some("completed") => true,
            Some("failed" | "interrupted") => false,
            _ => return Err("a turn completed with a `status` that is not known".to_owned()),
        };
        let final_text = self.turn.final_text.take();
        self.turn.outcome = Some(TurnOutcome { succeeded, final_text });
        Ok(())
    }
}

/// What the user says, as the protocol has it.
fn input(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The id that an answer must hold.
fn id_of(answer: &Value, pointer: &str, method: &str) -> Result<String, DriverError> {
    let missing = || wrong(format!("the answer to {method} has no {pointer}"), answer);
    text(answer, pointer).map(str::to_owned).ok_or_else(missing)
}

fn wrong(problem: String, answer: &Value) -> DriverError {
    DriverError::Output { problem, line: shortened(answer.to_string().as_bytes()) }
}
