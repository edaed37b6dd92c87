//! The other half of the dialogue: JSON lines on standard input, read beside whatever runs.

use std::{
    collections::VecDeque,
    future::Future,
    io::{BufRead, BufReader},
    pin::pin,
};

use serde::Deserialize;
use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError, unbounded_channel};

use crate::{
    approval::Decision,
    events::{Event, EventError, Events},
};

/// One line of input.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Prompt { text: String },
    Approval { id: String, decision: Decision },
    Steer { text: String },
    Interrupt,
    Compact,
    Close,
}

/// What the session does when nothing runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Prompt(String),
    Compact,
    Close,
}

/// How attended work ended.
pub(crate) enum Attended<T> {
    Done(T),
    Interrupted,
}

/// What became of an approval request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Decided(Decision),
    NoApprover,
    Interrupted,
}

enum Signal {
    Interrupt,
    Approval { id: String, decision: Decision },
    Nothing,
}

/// What the user says, in order. Prompts and compactions wait for the running turn to end; steers
/// wait for its next request; an interrupt waits for nothing.
pub(crate) struct Inbox {
    /// None when nobody can say anything more: exec mode, `close`, or the end of the input.
    lines: Option<UnboundedReceiver<String>>,
    waiting: VecDeque<Command>,
    steers: Vec<String>,
}

impl Inbox {
    /// For exec mode: nobody speaks.
    pub(crate) fn silent() -> Self {
        Self { lines: None, waiting: VecDeque::new(), steers: Vec::new() }
    }

    /// Standard input, read by a thread of its own, which ends with the process.
    pub(crate) fn stdin() -> Self {
        let (sender, receiver) = unbounded_channel();
        std::thread::spawn(move || {
            let mut input = BufReader::new(std::io::stdin().lock());
            let mut line = Vec::new();
            // A read error ends the input like its end does; the session closes either way.
            while matches!(input.read_until(b'\n', &mut line), Ok(count) if count > 0) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                line.clear();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Self { lines: Some(receiver), waiting: VecDeque::new(), steers: Vec::new() }
    }

    /// The next thing to do when nothing runs.
    pub(crate) async fn command(&mut self, events: &mut Events) -> Result<Command, EventError> {
        loop {
            if let Some(command) = self.waiting.pop_front() {
                return Ok(command);
            }
            let Some(lines) = &mut self.lines else { return Ok(Command::Close) };
            match lines.recv().await {
                None => self.lines = None,
                Some(line) => match parse(&line) {
                    Ok(Some(Line::Steer { .. })) => {
                        complain(
                            events,
                            "no turn is running that a steer could reach; send a prompt",
                        )?;
                    }
                    Ok(Some(Line::Interrupt)) => {
                        complain(events, "nothing is running that could be interrupted")?;
                    }
                    other => match self.take(other, events)? {
                        Signal::Approval { id, .. } => unknown_approval(events, &id)?,
                        Signal::Interrupt | Signal::Nothing => {}
                    },
                },
            }
        }
    }

    /// Runs `work` and listens meanwhile. An interrupt drops it.
    pub(crate) async fn attend<F: Future>(
        &mut self,
        events: &mut Events,
        work: F,
    ) -> Result<Attended<F::Output>, EventError> {
        let mut work = pin!(work);
        loop {
            let Some(lines) = &mut self.lines else { return Ok(Attended::Done(work.await)) };
            tokio::select! {
                // What was said before the work ended counts as said during it.
                biased;
                line = lines.recv() => match self.hear(line, events)? {
                    Signal::Interrupt => return Ok(Attended::Interrupted),
                    Signal::Approval { id, .. } => unknown_approval(events, &id)?,
                    Signal::Nothing => {}
                },
                output = &mut work => return Ok(Attended::Done(output)),
            }
        }
    }

    /// Waits for the decision on one approval request.
    pub(crate) async fn decision(
        &mut self,
        events: &mut Events,
        request: &str,
    ) -> Result<Answer, EventError> {
        loop {
            let Some(lines) = &mut self.lines else { return Ok(Answer::NoApprover) };
            let line = lines.recv().await;
            match self.hear(line, events)? {
                Signal::Interrupt => return Ok(Answer::Interrupted),
                Signal::Approval { id, decision } if id == request => {
                    return Ok(Answer::Decided(decision));
                }
                Signal::Approval { id, .. } => unknown_approval(events, &id)?,
                Signal::Nothing => {}
            }
        }
    }

    /// Hears what has been said by now. True if that was an interrupt.
    pub(crate) fn catch_up(&mut self, events: &mut Events) -> Result<bool, EventError> {
        while let Some(lines) = &mut self.lines {
            let line = match lines.try_recv() {
                Ok(line) => Some(line),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => break,
            };
            match self.hear(line, events)? {
                Signal::Interrupt => return Ok(true),
                Signal::Approval { id, .. } => unknown_approval(events, &id)?,
                Signal::Nothing => {}
            }
        }
        Ok(false)
    }

    /// The steers that no request has carried yet.
    pub(crate) fn take_steers(&mut self) -> Vec<String> {
        std::mem::take(&mut self.steers)
    }

    fn hear(&mut self, line: Option<String>, events: &mut Events) -> Result<Signal, EventError> {
        if let Some(line) = line {
            self.take(parse(&line), events)
        } else {
            self.lines = None;
            Ok(Signal::Nothing)
        }
    }

    fn take(
        &mut self,
        line: Result<Option<Line>, serde_json::Error>,
        events: &mut Events,
    ) -> Result<Signal, EventError> {
        match line {
            Ok(Some(Line::Interrupt)) => return Ok(Signal::Interrupt),
            Ok(Some(Line::Approval { id, decision })) => {
                return Ok(Signal::Approval { id, decision });
            }
            Ok(Some(Line::Steer { text })) => {
                events.emit(&Event::SteerAccepted { text: &text })?;
                self.steers.push(text);
            }
            Ok(Some(Line::Prompt { text })) => self.waiting.push_back(Command::Prompt(text)),
            Ok(Some(Line::Compact)) => self.waiting.push_back(Command::Compact),
            Ok(Some(Line::Close)) => self.lines = None,
            Ok(None) => {}
            Err(error) => complain(events, &format!("not a message of this dialogue: {error}"))?,
        }
        Ok(Signal::Nothing)
    }
}

/// An empty line says nothing.
fn parse(line: &str) -> Result<Option<Line>, serde_json::Error> {
    if line.is_empty() { Ok(None) } else { serde_json::from_str(line).map(Some) }
}

fn complain(events: &mut Events, error: &str) -> Result<(), EventError> {
    events.emit(&Event::Error { error })
}

fn unknown_approval(events: &mut Events, id: &str) -> Result<(), EventError> {
    complain(events, &format!("no approval request `{id}` is open"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_six_messages_are_read() {
        for (line, expected) in [
            (r#"{"type":"prompt","text":"a"}"#, Line::Prompt { text: "a".to_owned() }),
            (
                r#"{"type":"approval","id":"approval-1","decision":"allow_session"}"#,
                Line::Approval { id: "approval-1".to_owned(), decision: Decision::AllowSession },
            ),
            (r#"{"type":"steer","text":"b"}"#, Line::Steer { text: "b".to_owned() }),
            (r#"{"type":"interrupt"}"#, Line::Interrupt),
            (r#"{"type":"compact"}"#, Line::Compact),
            (r#"{"type":"close"}"#, Line::Close),
        ] {
            assert_eq!(parse(line).unwrap(), Some(expected));
        }
        assert_eq!(parse("").unwrap(), None);
    }

    #[test]
    fn anything_else_is_an_error_and_no_decision() {
        for line in [
            "allow",
            r#"{"type":"approve"}"#,
            r#"{"type":"approval","id":"approval-1","decision":"yes"}"#,
            r#"{"type":"approval","decision":"allow"}"#,
            r#"{"type":"prompt","text":"a","policy":"full"}"#,
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
