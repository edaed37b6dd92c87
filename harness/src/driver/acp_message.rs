//! The messages of the Agent Client Protocol, version 1 (agentclientprotocol.com): requests to the
//! agent, and what is read in its own.
//!
//! Written out here, and not taken from a client library: a library answers for the client, drops
//! updates it does not know and mends what is almost right, and what an agent does wrong is what
//! this program is there to see.

use std::path::Path;

use serde_json::{Value, json};

use super::json_rpc::text;
use crate::scenario::Approver;

/// The version of the protocol that is spoken.
pub(super) const VERSION: u64 = 1;

/// A request.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// What the client says of itself: it offers neither files nor terminals, so that the agent acts by
/// its own tools.
pub(super) fn initialize() -> Value {
    let client =
        json!({"name": "conform", "title": "conform", "version": env!("CARGO_PKG_VERSION")});
    let files = json!({"readTextFile": false, "writeTextFile": false});
    json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {"fs": files, "terminal": false},
        "clientInfo": client,
    })
}

/// A session in this folder: a new one, or the one of that id.
pub(super) fn session(folder: &Path, id: Option<&str>) -> Value {
    let mut params = json!({"cwd": folder, "mcpServers": []});
    if let Some(id) = id {
        params["sessionId"] = id.into();
    }
    params
}

/// A prompt.
pub(super) fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// The order to stop.
pub(super) fn cancel(session: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
}

/// What an update tells, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Update<'v> {
    /// A piece of the model's text.
    Text(&'v str),
    /// Something about a call of a tool.
    Call {
        /// Its id.
        id: &'v str,
        /// What it will do, where the agent says so here.
        action: Option<String>,
    },
    /// Anything else.
    Other,
}

impl<'v> Update<'v> {
    /// Reads the parameters of `session/update`; or says what is wrong with them.
    pub(super) fn read(params: &'v Value) -> Result<Self, String> {
        let Some(update) = params.get("update") else {
            return Err("an update without `update`".to_owned());
        };
        Ok(match text(update, "/sessionUpdate") {
            None => return Err("an update without `sessionUpdate`".to_owned()),
            Some("agent_message_chunk") => {
                text(update, "/content/text").map_or(Self::Other, Self::Text)
            }
            Some("tool_call" | "tool_call_update") => {
                let id = text(update, "/toolCallId");
                let id = id.ok_or_else(|| "an update on a call without its id".to_owned())?;
                Self::Call { id, action: action(update) }
            }
            Some(_) => Self::Other,
        })
    }
}

/// What a call will do, in the agent's words: its title and its input.
pub(super) fn action(call: &Value) -> Option<String> {
    let title = text(call, "/title");
    let input = call.get("rawInput").filter(|input| !input.is_null()).map(Value::to_string);
    match (title, input) {
        (Some(title), Some(input)) => Some(format!("{title} {input}")),
        (None, Some(input)) => Some(input),
        (title, None) => title.map(str::to_owned),
    }
}

/// The answer to `session/request_permission`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision<'v> {
    /// The option of this id.
    Option(&'v str),
    /// None of the options says what is to be said.
    NotOffered,
}

impl<'v> Decision<'v> {
    /// Chooses among the options by their kind, as ids are the agent's own; and what is said holds
    /// for this one action.
    pub(super) fn choose(params: &'v Value, approver: Approver) -> Self {
        let kind = match approver {
            Approver::Allow => "allow_once",
            Approver::Deny => "reject_once",
        };
        let options = params.get("options").and_then(Value::as_array).into_iter().flatten();
        let mut fitting = options.filter(|option| text(option, "/kind") == Some(kind));
        match fitting.next().and_then(|option| text(option, "/optionId")) {
            Some(id) => Self::Option(id),
            None => Self::NotOffered,
        }
    }

    /// The result that is sent.
    pub(super) fn result(&self) -> Value {
        match self {
            Self::Option(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
            Self::NotOffered => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }
}

/// Whether a turn that stopped for this reason did what it was asked to; `None`: not a reason that
/// the protocol knows.
pub(super) fn is_success(stop_reason: &str) -> Option<bool> {
    match stop_reason {
        "end_turn" => Some(true),
        "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_chosen_by_its_kind() {
        let params = json!({"options": [
            {"optionId": "always", "kind": "allow_always", "name": "Always"},
            {"optionId": "y", "kind": "allow_once", "name": "Yes"},
            {"optionId": "n", "kind": "reject_once", "name": "No"},
        ]});
        assert_eq!(Decision::choose(&params, Approver::Allow), Decision::Option("y"));
        assert_eq!(Decision::choose(&params, Approver::Deny), Decision::Option("n"));
        let params = json!({"options": [{"optionId": "a", "kind": "allow_always"}]});
        for approver in [Approver::Allow, Approver::Deny] {
            let decision = Decision::choose(&params, approver);
            assert_eq!(decision, Decision::NotOffered);
            assert_eq!(decision.result(), json!({"outcome": {"outcome": "cancelled"}}));
        }
        assert_eq!(Decision::choose(&json!({}), Approver::Deny), Decision::NotOffered);
    }

    #[test]
    fn an_update_is_read() {
        let read = |update: Value| {
            let params = json!({"sessionId": "s", "update": update});
            Update::read(&params).map(|update| format!("{update:?}"))
        };
        let chunk = json!({"sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "hello"}});
        assert_eq!(read(chunk), Ok(r#"Text("hello")"#.to_owned()));
        let thought = json!({"sessionUpdate": "agent_thought_chunk",
            "content": {"type": "text", "text": "hm"}});
        assert_eq!(read(thought), Ok("Other".to_owned()));
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run",
            "rawInput": {"command": "ls"}});
        assert_eq!(
            read(call),
            Ok(r#"Call { id: "c", action: Some("Run {\"command\":\"ls\"}") }"#.to_owned())
        );
        assert!(read(json!({"sessionUpdate": "tool_call"})).is_err());
        assert!(read(json!({})).is_err());
        assert!(Update::read(&json!({"sessionId": "s"})).is_err());
    }
}
