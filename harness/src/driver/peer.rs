//! The process behind a dialogue: lines from it, lines to it, its end.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::context::{Context, DriverError};
use super::dialogue::Dialogue;
use super::interjection::{Interjection, Interjections};
use super::transcript::{Lines, Transcript};
use crate::sandbox::{ExitWatch, Stdin};

/// An agent's process with which JSON lines are exchanged. What they mean is the driver's matter.
#[derive(Debug)]
pub(super) struct Peer<'a> {
    pub(super) context: Context<'a>,
    /// Messages to the agent, until standard input is closed.
    to_agent: Option<mpsc::UnboundedSender<String>>,
    output: Output,
    exit: ExitWatch,
    stderr: JoinHandle<std::io::Result<Transcript>>,
    /// Until when the agent may still speak, once standard input is closed.
    closing: Option<Instant>,
    /// Whether everything below the keeper was killed.
    swept: bool,
    leftovers: Vec<String>,
    timed_out: bool,
}

/// Standard output, in lines.
#[derive(Debug)]
struct Output {
    stream: pipe::Receiver,
    buffer: Vec<u8>,
    lines: Lines,
    transcript: Transcript,
    ended: bool,
}

/// What happens next in a turn.
#[derive(Debug)]
pub(super) enum Heard {
    /// The agent wrote a line.
    Line(Vec<u8>),
    /// Something is to be said to it.
    Interjection(Interjection),
    /// Its output is at its end, or its time.
    End,
}

/// What the agent did next.
enum Next {
    Line(Vec<u8>),
    /// Something is to be said to it.
    Interjection(Interjection),
    /// Its output is at its end.
    End,
    TimeIsUp,
}

impl<'a> Peer<'a> {
    /// Starts the agent's process.
    pub(super) async fn start(context: Context<'a>) -> Result<Self, DriverError> {
        let process = context.start("", Stdin::Piped).await?;
        let limits = context.limits;
        let (to_agent, messages) = mpsc::unbounded_channel();
        if let Some(stdin) = process.stdin {
            tokio::spawn(write(stdin, messages));
        }
        Ok(Self {
            context,
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
            closing: None,
            swept: false,
            leftovers: Vec::new(),
            timed_out: false,
        })
    }

    /// Whether the agent says nothing more: its output ended, or its time.
    pub(super) fn is_over(&self) -> bool {
        self.timed_out || self.output.ended
    }

    /// Whether standard input is still open, as far as the driver is concerned.
    pub(super) fn is_listening(&self) -> bool {
        self.to_agent.is_some()
    }

    /// Queues a message. To an agent that is gone it is lost, and the end of its output tells.
    pub(super) fn send(&self, message: &Value) {
        if let Some(to_agent) = &self.to_agent {
            // Fails only when the writer has ended, because the agent reads no more.
            let _ = to_agent.send(message.to_string());
        }
    }

    /// The next line that is not blank; `None` at the end of the output or of the time. When the
    /// time is over, every process is killed.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, DriverError> {
        loop {
            match self.hear(&mut Interjections::none()).await? {
                Heard::Line(line) => return Ok(Some(line)),
                Heard::End => return Ok(None),
                // Nobody holds the other end.
                Heard::Interjection(_) => {}
            }
        }
    }

    /// The next line that is not blank or the next thing to say; lines come first.
    pub(super) async fn hear(
        &mut self,
        interjections: &mut Interjections,
    ) -> Result<Heard, DriverError> {
        let deadline = self.context.deadline;
        let limit = self.closing.map_or(deadline, |closing| closing.min(deadline));
        loop {
            match self.read(limit, interjections).await? {
                Next::Line(line) if line.iter().all(u8::is_ascii_whitespace) => {}
                Next::Line(line) => return Ok(Heard::Line(line)),
                Next::Interjection(interjection) => return Ok(Heard::Interjection(interjection)),
                Next::End => return Ok(Heard::End),
                Next::TimeIsUp => {
                    // An agent that was told to end is dealt with at the end.
                    if self.closing.is_none() {
                        self.timed_out = true;
                        self.sweep().await?;
                    }
                    return Ok(Heard::End);
                }
            }
        }
    }

    /// Closes standard input when all messages are written. What the agent says from now on it
    /// must say within the limit for closing.
    pub(super) fn hang_up(&mut self) {
        self.to_agent = None;
        self.closing = Some(Instant::now() + self.context.limits.closing);
    }

    /// Waits for the process to end and kills what it left, then goes on with a new one; adds what
    /// was seen of the last.
    pub(super) async fn restart(
        &mut self,
        context: Context<'a>,
        dialogue: &mut Dialogue,
    ) -> Result<(), DriverError> {
        // To sweep is to kill everything below the keeper: the next must not be there yet.
        self.finish().await?;
        let next = Self::start(context).await?;
        let last = std::mem::replace(self, next);
        *dialogue = last.end(std::mem::take(dialogue)).await?;
        Ok(())
    }

    /// Waits for the process to end, and kills what it left.
    async fn finish(&mut self) -> Result<(), DriverError> {
        let closing = match self.closing {
            Some(closing) => closing,
            None => Instant::now(),
        };
        let limit = closing.min(self.context.deadline);
        // An agent may close its output long before it ends.
        if timeout_at(limit, self.exit.wait()).await.is_err() {
            self.timed_out |= self.context.deadline <= closing;
        }
        if self.swept { Ok(()) } else { self.sweep().await }
    }

    /// Waits for the process to end, kills what it left, and adds what was seen.
    pub(super) async fn end(mut self, mut dialogue: Dialogue) -> Result<Dialogue, DriverError> {
        self.finish().await?;
        dialogue.exit = self.exit.wait().await?;
        // All who could write are gone, so what is left in the pipe is all there is, and at hand.
        let at_hand = Instant::now() + self.context.limits.closing;
        while let Next::Line(_) = self.read(at_hand, &mut Interjections::none()).await? {}
        dialogue.stdout += &self.output.transcript.into_text();
        dialogue.stderr += &self.stderr.await.map_err(std::io::Error::other)??.into_text();
        dialogue.leftovers.extend(self.leftovers);
        dialogue.timed_out |= self.timed_out;
        Ok(dialogue)
    }

    /// The next line. When the process ends but others still hold its output, they are leftovers:
    /// they are named and killed, and with them the output ends.
    async fn read(
        &mut self,
        limit: Instant,
        interjections: &mut Interjections,
    ) -> Result<Next, DriverError> {
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
                interjection = interjections.next() => {
                    return Ok(Next::Interjection(interjection));
                }
                () = tokio::time::sleep_until(limit) => return Ok(Next::TimeIsUp),
            }
            self.sweep().await?;
        }
    }

    async fn sweep(&mut self) -> Result<(), DriverError> {
        self.swept = true;
        let leftovers = self.context.keeper.sweep().await?;
        self.leftovers.extend(leftovers);
        Ok(())
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

/// Writes messages until standard input is closed or nobody reads them.
async fn write(mut stdin: pipe::Sender, mut messages: mpsc::UnboundedReceiver<String>) {
    while let Some(mut message) = messages.recv().await {
        message.push('\n');
        // An agent that reads no more has ended or will run out of time; both are seen elsewhere.
        if stdin.write_all(message.as_bytes()).await.is_err() {
            return;
        }
    }
}
