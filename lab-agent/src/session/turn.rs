//! One turn: sample, act on the calls, and sample again until the model only speaks.

use super::life::{Ending, Session, SessionError};
use crate::{
    defect::Defect,
    dialogue::Attended,
    events::{Event, EventError},
    history::Origin,
    request::{self, Purpose},
    wire::{Heard, ModelCall, Reply, hear},
};

/// Samplings of one turn; a model that never stops calling does not keep the agent for ever.
const MAX_SAMPLINGS: u32 = 200;
/// Reported tokens from which on the history is compacted before the next request.
const FULL: u64 = 200_000;

/// How a turn ended.
pub(super) enum TurnEnd {
    Completed { final_text: String },
    Interrupted,
    Failed { error: String },
}

/// How a sampling ended.
pub(super) enum Sampled {
    Reply(Reply),
    Interrupted,
    Failed(String),
    /// The window cannot hold the request.
    Full(String),
}

/// What a reply asks for.
struct Absorbed {
    text: String,
    calls: Vec<ModelCall>,
    /// The reply held a call that was already answered, so the model still waits for more.
    repeated: bool,
}

impl Session {
    /// Runs one turn for a prompt and reports its end.
    pub(super) async fn turn(&mut self, prompt: &str) -> Result<Ending, SessionError> {
        self.turns += 1;
        self.events.emit(&Event::TurnStarted { turn: self.turns })?;
        // A summary that could not be had leaves the history as it was; the turn may still succeed.
        if self.is_full() {
            drop(self.compact(false).await?);
        }
        self.history.extend(request::prompt(prompt, &self.settings.defects));
        self.history.extend(request::behind_prompt(&self.settings));
        let end = self.sample_until_final().await?;
        // A steer that came too late for this turn's requests was still said before the next prompt.
        self.add_steers();
        self.keep()?;
        match end {
            TurnEnd::Completed { final_text } => {
                self.events.emit(&Event::TurnCompleted { final_text: &final_text })?;
                Ok(Ending::Completed)
            }
            TurnEnd::Interrupted => {
                self.events.emit(&Event::TurnInterrupted)?;
                Ok(Ending::Failed)
            }
            TurnEnd::Failed { error } => {
                self.events.emit(&Event::TurnFailed { error: &error })?;
                Ok(Ending::Failed)
            }
        }
    }

    pub(super) async fn sample_until_final(&mut self) -> Result<TurnEnd, SessionError> {
        let mut refused = false;
        for _ in 0..MAX_SAMPLINGS {
            if self.inbox.catch_up(&mut self.events)? {
                return Ok(TurnEnd::Interrupted);
            }
            self.add_steers();
            let reply = match self.sample(Purpose::Turn).await? {
                Sampled::Reply(reply) => reply,
                Sampled::Interrupted => return Ok(TurnEnd::Interrupted),
                Sampled::Failed(error) => return Ok(TurnEnd::Failed { error }),
                // Once: what is too long after a compaction stays too long.
                Sampled::Full(error) if refused => return Ok(TurnEnd::Failed { error }),
                Sampled::Full(_) => {
                    refused = true;
                    if self.settings.has(Defect::TruncatesFullWindow) {
                        self.history.truncate();
                    } else if let Err(error) = self.compact(true).await? {
                        return Ok(TurnEnd::Failed { error });
                    }
                    continue;
                }
            };
            self.tokens = reply.tokens;
            let absorbed = match self.absorb(reply)? {
                Ok(absorbed) => absorbed,
                Err(error) => return Ok(TurnEnd::Failed { error }),
            };
            if absorbed.calls.is_empty() && !absorbed.repeated {
                if self.inbox.catch_up(&mut self.events)? {
                    return Ok(TurnEnd::Interrupted);
                }
                if self.add_steers() {
                    continue;
                }
                return Ok(TurnEnd::Completed { final_text: absorbed.text });
            }
            let batch = self.act(absorbed.calls).await?;
            self.history.extend(request::results(&batch.answered, &self.settings.defects));
            if batch.interrupted {
                return Ok(TurnEnd::Interrupted);
            }
            if self.is_full() {
                drop(self.compact(true).await?);
            }
        }
        Ok(TurnEnd::Failed { error: format!("no final answer after {MAX_SAMPLINGS} requests") })
    }

    /// Whether the next request may not fit in the window.
    fn is_full(&self) -> bool {
        self.tokens >= FULL && !self.settings.has(Defect::IgnoresFullWindow)
    }

    /// Puts waiting steers behind everything that is answered by now. True if there were any. They
    /// are for the agent that the user talks to: while a sub-agent works, they wait.
    fn add_steers(&mut self) -> bool {
        if self.parent.is_some() {
            return false;
        }
        let steers = self.inbox.take_steers();
        for text in &steers {
            if self.settings.has(Defect::SteerInResult) && self.history.append_to_last_result(text)
            {
                continue;
            }
            let copies = if self.settings.has(Defect::SteerTwice) { 2 } else { 1 };
            for _ in 0..copies {
                self.history.extend(request::prompt(text, &self.settings.defects));
            }
        }
        !steers.is_empty()
    }

    /// Sends one request, again where the road failed, and gives the whole reply.
    pub(super) async fn sample(&mut self, purpose: Purpose) -> Result<Sampled, SessionError> {
        self.bodies += 1;
        let body = request::body(&self.frame(), &self.history, purpose, self.bodies)?;
        let mut retries = 0;
        loop {
            self.requests += 1;
            self.events.emit(&Event::RequestSent { n: self.requests, attempt: retries + 1 })?;
            let attempt = self.client.attempt(&body);
            let error = match self.inbox.attend(&mut self.events, attempt).await? {
                Attended::Interrupted => return Ok(Sampled::Interrupted),
                Attended::Done(Ok(reply)) => return Ok(Sampled::Reply(reply)),
                Attended::Done(Err(error)) => error,
            };
            if error.is_full_window() {
                return Ok(Sampled::Full(error.to_string()));
            }
            let Some(wait) = error.retry(retries, &self.settings.defects) else {
                return Ok(Sampled::Failed(error.to_string()));
            };
            retries += 1;
            let pause = tokio::time::sleep(wait);
            if let Attended::Interrupted = self.inbox.attend(&mut self.events, pause).await? {
                return Ok(Sampled::Interrupted);
            }
        }
    }

    /// Takes a whole reply into the history. The inner error is a reply that cannot be answered;
    /// nothing of it is kept then.
    fn absorb(&mut self, reply: Reply) -> Result<Result<Absorbed, String>, EventError> {
        let heard: Result<Vec<Heard>, _> = reply.items.iter().map(hear).collect();
        let heard = match heard {
            Ok(heard) => heard,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut absorbed = Absorbed { text: String::new(), calls: Vec::new(), repeated: false };
        for (item, heard) in reply.items.into_iter().zip(heard) {
            match heard {
                Heard::Message(text) => {
                    self.events.emit(&Event::Message { text: &text })?;
                    absorbed.text = text;
                }
                Heard::Call(call) => {
                    let fresh = self.history.note_call(&call.call_id);
                    if !fresh && !self.settings.has(Defect::RepeatedIdRunsTwice) {
                        absorbed.repeated = true;
                        self.events.emit(&Event::CallIgnored {
                            call_id: &call.call_id,
                            reason: "a call with this id was already answered",
                        })?;
                        continue;
                    }
                    absorbed.calls.push(call);
                }
                Heard::Reasoning if self.settings.has(Defect::DropsReasoning) => continue,
                Heard::Reasoning => {}
                Heard::Unknown(item_type) => {
                    self.events.emit(&Event::ItemUnknown { item_type: &item_type })?;
                }
            }
            self.history.push(Origin::Model, item);
        }
        Ok(Ok(absorbed))
    }
}
