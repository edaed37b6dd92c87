//! The JSON-lines dialogue driver: the protocol of the lab agent, free for others to adopt.
//!
//! One JSON object a line. To the agent: `{"type":"prompt","text"}`,
//! `{"type":"approval","id","decision":"allow"|"allow_session"|"deny"}`, `{"type":"close"}`. From
//! the agent: `turn.started`, then `approval.requested {id,call_id,tool,action}` as often as it asks,
//! then `turn.completed {final}`, `turn.failed {error}` or `turn.interrupted`; any other event is kept
//! in the transcript and not acted upon.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::context::{Context, DriverError, shortened};
use super::dialogue::{Approval, Dialogue, TurnOutcome};
use super::transcript::{Lines, Transcript};
use crate::sandbox::{ExitWatch, Stdin};
use crate::scenario::Approver;

/// The JSON-lines dialogue driver.
#[derive(Debug)]
pub struct Jsonl<'a> {
    context: Context<'a>,
    dialogue: Dialogue,
    /// Messages to the agent, until the dialogue is closed.
    to_agent: Option<mpsc::UnboundedSender<String>>,
    output: Output,
    exit: ExitWatch,
    stderr: JoinHandle<std::io::Result<Transcript>>,
    /// Whether everything below the keeper was killed.
    swept: bool,
    /// Whether the agent said that it works on the last prompt.
    turn_started: bool,
}

/// A turn that did not come to its end.
const FAILED: TurnOutcome = TurnOutcome { succeeded: false, final_text: None };

/// Standard output, in lines.
#[derive(Debug)]
struct Output {
    stream: pipe::Receiver,
    buffer: Vec<u8>,
    lines: Lines,
    transcript: Transcript,
    ended: bool,
}

/// What the agent did next.
enum Next {
    Line(Vec<u8>),
    /// Its output is at its end.
    End,
    TimeIsUp,
}

impl<'a> Jsonl<'a> {
    pub(super) async fn open(context: Context<'a>) -> Result<Self, DriverError> {
        let process = context.start("", Stdin::Piped).await?;
        let limits = context.limits;
        let (to_agent, messages) = mpsc::unbounded_channel();
        if let Some(stdin) = process.stdin {
            tokio::spawn(write(stdin, messages));
        }
        Ok(Self {
            context,
            dialogue: Dialogue::default(),
            to_agent: Some(to_agent),
            output: Output {
                stream: process.stdout,
                buffer: vec![0; 64 * 1024],
                lines: Lines::new(limits),
                transcript: Transcript::new(limits),
                ended: false,
            },
            exit: process.exit,
            stderr: tokio::spawn(Transcript::new(limits).read(process.stderr)),
            swept: false,
            turn_started: false,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.dialogue.timed_out || self.output.ended
    }

    pub(super) async fn prompt(&mut self, text: &str) -> Result<TurnOutcome, DriverError> {
        let outcome = self.take_turn(text).await;
        self.dialogue.turns.push(match &outcome {
            Ok(outcome) => outcome.clone(),
            Err(_) => FAILED,
        });
        outcome
    }

    async fn take_turn(&mut self, text: &str) -> Result<TurnOutcome, DriverError> {
        // What such an agent still said belongs to an earlier turn.
        if self.is_over() {
            return Ok(FAILED);
        }
        self.turn_started = false;
        self.send(&json!({"type": "prompt", "text": text}));
        loop {
            match self.next(self.context.deadline).await? {
                Next::Line(line) => {
                    if let ControlFlow::Break(outcome) = self.read_event(&line)? {
                        return Ok(outcome);
                    }
                }
                Next::End => return Ok(FAILED),
                Next::TimeIsUp => {
                    self.dialogue.timed_out = true;
                    self.sweep().await?;
                    return Ok(FAILED);
                }
            }
        }
    }

    pub(super) async fn close(mut self) -> Result<Dialogue, DriverError> {
        self.send(&json!({"type": "close"}));
        // The writer closes standard input when it has written that.
        self.to_agent = None;
        let closing = Instant::now() + self.context.limits.closing;
        let limit = closing.min(self.context.deadline);
        // An agent that is told to end may still ask; garbage no longer matters.
        while let Next::Line(line) = self.next(limit).await? {
            drop(self.read_event(&line));
        }
        // An agent may close its output long before it ends.
        if timeout_at(limit, self.exit.wait()).await.is_err() {
            self.dialogue.timed_out |= self.context.deadline <= closing;
        }
        self.sweep().await?;
        self.dialogue.exit = self.exit.wait().await?;
        // All who could write are gone, so what is left in the pipe is all there is, and at hand.
        let at_hand = Instant::now() + self.context.limits.closing;
        while let Next::Line(_) = self.next(at_hand).await? {}
        self.dialogue.stdout = self.output.transcript.into_text();
        let stderr = self.stderr.await.map_err(std::io::Error::other)??;
        self.dialogue.stderr = stderr.into_text();
        Ok(self.dialogue)
    }

    /// Queues a message. To an agent that is gone it is lost, and the end of its output tells.
    fn send(&self, message: &Value) {
        if let Some(to_agent) = &self.to_agent {
            // Fails only when the writer has ended, because the agent reads no more.
            let _ = to_agent.send(message.to_string());
        }
    }

    /// The next line. When the process ends but others still hold its output, they are leftovers:
    /// they are named and killed, and with them the output ends.
    async fn next(&mut self, limit: Instant) -> Result<Next, DriverError> {
        loop {
            let exited = async {
                if self.swept { std::future::pending().await } else { self.exit.wait().await }
            };
            tokio::select! {
                biased;
                line = self.output.next() => {
                    return Ok(line?.map_or(Next::End, Next::Line));
                }
                exit = exited => {
                    exit?;
                }
                () = tokio::time::sleep_until(limit) => return Ok(Next::TimeIsUp),
            }
            self.sweep().await?;
        }
    }

    async fn sweep(&mut self) -> Result<(), DriverError> {
        self.swept = true;
        let leftovers = self.context.keeper.sweep().await?;
        self.dialogue.leftovers.extend(leftovers);
        Ok(())
    }

    /// Acts upon an event; breaks with the outcome when it ends the turn.
    fn read_event(&mut self, line: &[u8]) -> Result<ControlFlow<TurnOutcome>, DriverError> {
        let wrong = |problem: String| DriverError::Output { problem, line: shortened(line) };
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(ControlFlow::Continue(()));
        }
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
                let (allowed, decision) = match self.context.approver {
                    Approver::Allow => (true, "allow"),
                    Approver::Deny => (false, "deny"),
                };
                self.dialogue.approvals.push(Approval {
                    call_id: event.get("call_id").and_then(Value::as_str).map(str::to_owned),
                    action: event.get("action").map(shown).unwrap_or_default(),
                    allowed,
                });
                self.send(&json!({"type": "approval", "id": id, "decision": decision}));
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
            "turn.failed" | "turn.interrupted" => {
                return Ok(ControlFlow::Break(TurnOutcome { succeeded: false, final_text: None }));
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Output {
    /// The next line; `None` at the end. May be cancelled and called again.
    async fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(line) = self.lines.next() {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(self.lines.rest());
            }
            let count = self.stream.read(&mut self.buffer).await?;
            self.ended = count == 0;
            self.lines.push(&self.buffer[..count]);
            self.transcript.push(&self.buffer[..count]);
        }
    }
}

/// Writes messages until the dialogue is closed or nobody reads them.
async fn write(mut stdin: pipe::Sender, mut messages: mpsc::UnboundedReceiver<String>) {
    while let Some(mut message) = messages.recv().await {
        message.push('\n');
        // An agent that reads no more has ended or will run out of time; both are seen elsewhere.
        if stdin.write_all(message.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The action as text: a string as it is, anything else as JSON.
fn shown(action: &Value) -> String {
    action.as_str().map_or_else(|| action.to_string(), str::to_owned)
}
