//! The events that the agent prints: one JSON object a line, flushed at once.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use crate::{approval::Decision, settings::Policy, tools::Status};

/// One line of output. The crate documentation describes each for readers in other programs.
#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub(crate) enum Event<'a> {
    #[serde(rename = "session.started")]
    SessionStarted {
        session: &'a str,
        resumed: bool,
        model: &'a str,
        policy: Policy,
        network: bool,
        rules: &'a [String],
        rules_ignored: &'a [String],
    },
    #[serde(rename = "turn.started")]
    TurnStarted { turn: u64 },
    #[serde(rename = "request.sent")]
    RequestSent { n: u64, attempt: u32 },
    #[serde(rename = "message")]
    Message { text: &'a str },
    #[serde(rename = "tool.started")]
    ToolStarted { call_id: &'a str, name: &'a str },
    #[serde(rename = "approval.requested")]
    ApprovalRequested {
        id: &'a str,
        call_id: &'a str,
        tool: &'a str,
        action: &'a Value,
        reason: &'a str,
    },
    #[serde(rename = "approval.decided")]
    ApprovalDecided { id: &'a str, decision: Decision, by: DecidedBy },
    #[serde(rename = "tool.completed")]
    ToolCompleted { call_id: &'a str, status: Status },
    #[serde(rename = "call.ignored")]
    CallIgnored { call_id: &'a str, reason: &'a str },
    #[serde(rename = "item.unknown")]
    ItemUnknown { item_type: &'a str },
    #[serde(rename = "steer.accepted")]
    SteerAccepted { text: &'a str },
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        #[serde(rename = "final")]
        final_text: &'a str,
    },
    #[serde(rename = "turn.interrupted")]
    TurnInterrupted,
    #[serde(rename = "turn.failed")]
    TurnFailed { error: &'a str },
    #[serde(rename = "compacted")]
    Compacted { summary: &'a str },
    #[serde(rename = "compaction.failed")]
    CompactionFailed { error: &'a str },
    #[serde(rename = "error")]
    Error { error: &'a str },
    #[serde(rename = "session.closed")]
    SessionClosed,
}

/// Who decided an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DecidedBy {
    /// An `approval` message of the dialogue.
    User,
    /// Nobody can answer: exec mode, or the dialogue's input has ended.
    NoApprover,
    /// The user interrupted the turn while the request was open.
    Interrupt,
}

/// The output is gone, so nothing more can be reported and the session ends.
#[derive(Debug, thiserror::Error)]
#[error("cannot write an event to standard output: {0}; keep its reader open until the agent ends")]
pub(crate) struct EventError(#[from] std::io::Error);

/// Where events go.
pub(crate) struct Events {
    out: Box<dyn Write>,
}

impl Events {
    /// Events on standard output.
    pub(crate) fn to_stdout() -> Self {
        Self { out: Box::new(std::io::stdout().lock()) }
    }

    /// Writes one event and flushes it, so that a reader can wait for it.
    pub(crate) fn emit(&mut self, event: &Event<'_>) -> Result<(), EventError> {
        let mut line = serde_json::to_vec(event).map_err(std::io::Error::from)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_object_with_its_type_first() {
        let line = serde_json::to_string(&Event::TurnCompleted { final_text: "a\nb" }).unwrap();
        assert_eq!(line, r#"{"type":"turn.completed","final":"a\nb"}"#);
    }

    #[test]
    fn a_decision_names_who_took_it() {
        let event = Event::ApprovalDecided {
            id: "approval-1",
            decision: Decision::Deny,
            by: DecidedBy::NoApprover,
        };
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"type":"approval.decided","id":"approval-1","decision":"deny","by":"no-approver"}"#
        );
    }
}
