//! The messages of the Codex app-server: JSON-RPC lines without the `jsonrpc` member, as the schema
//! written by `codex app-server generate-json-schema` (0.171.0) has them.

use serde_json::{Value, json};

pub(super) use super::json_rpc::{Message, text};

/// What the agent asks the human for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// To run a command.
    Command,
    /// To change files.
    FileChange,
    /// To get wider permissions for the turn.
    Permissions,
    /// To answer a tool server.
    Elicitation,
}

impl Question {
    /// The question of this method, if it is one that can be answered with yes or no.
    pub(super) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "item/commandExecution/requestApproval" => Self::Command,
            "item/fileChange/requestApproval" => Self::FileChange,
            "item/permissions/requestApproval" => Self::Permissions,
            "mcpServer/elicitation/request" => Self::Elicitation,
            _ => return None,
        })
    }

    /// What would be done if the answer were yes; `item` is what the agent said before about the
    /// item in question. Nothing in it differs from run to run but paths and ids.
    pub(super) fn action(self, params: &Value, item: Option<&str>) -> String {
        let shown = |pointer: &str| {
            let value = params.pointer(pointer).filter(|value| !value.is_null())?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let action = match self {
            Self::Command => shown("/command").or_else(|| shown("/networkApprovalContext")),
            Self::FileChange => match (item, shown("/grantRoot")) {
                (Some(item), Some(root)) => Some(format!("{item}, and all below {root}")),
                (_, root) => root,
            },
            Self::Permissions => shown("/permissions"),
            Self::Elicitation => shown("/message"),
        };
        action
            .or_else(|| item.map(str::to_owned))
            .or_else(|| shown("/reason"))
            .unwrap_or_else(|| "an action that the agent does not show".to_owned())
    }

    /// The result that allows it, or refuses it and lets the turn go on.
    pub(super) fn answer(self, params: &Value, allowed: bool) -> Value {
        match self {
            Self::Command | Self::FileChange => {
                json!({"decision": if allowed { "accept" } else { "decline" }})
            }
            // What is not granted is refused.
            Self::Permissions => {
                let asked = params.get("permissions").filter(|_| allowed).cloned();
                json!({"permissions": asked.unwrap_or_else(|| json!({})), "scope": "turn"})
            }
            Self::Elicitation if allowed => json!({"action": "accept", "content": {}}),
            Self::Elicitation => json!({"action": "decline"}),
        }
    }
}

/// What an item will do, if it is one that may be asked about.
pub(super) fn item_action(item: &Value) -> Option<String> {
    match text(item, "/type")? {
        "commandExecution" => text(item, "/command").map(str::to_owned),
        "fileChange" => {
            let changes = item.get("changes")?.as_array()?;
            let changes: Vec<String> = changes.iter().map(change).collect();
            Some(changes.join(", "))
        }
        _ => None,
    }
}

/// `add PATH`, `delete PATH`, `update PATH`, `update PATH as NEW-PATH`.
fn change(change: &Value) -> String {
    let part = |pointer| text(change, pointer).unwrap_or("?");
    let mut shown = format!("{} {}", part("/kind/type"), part("/path"));
    if let Some(target) = text(change, "/kind/move_path") {
        shown.push_str(" as ");
        shown.push_str(target);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_shown_in_full() {
        let command = json!({"command": "sh x", "startedAtMs": 1});
        assert_eq!(Question::Command.action(&command, Some("other")), "sh x");
        let network = json!({"command": null, "networkApprovalContext": {"host": "h"}});
        assert_eq!(Question::Command.action(&network, Some("item")), r#"{"host":"h"}"#);
        assert_eq!(Question::Command.action(&json!({}), Some("item")), "item");
        let reason = json!({"reason": "why", "startedAtMs": 1});
        assert_eq!(Question::FileChange.action(&reason, None), "why");
        let root = json!({"grantRoot": "/r"});
        assert_eq!(
            Question::FileChange.action(&root, Some("add /w/f")),
            "add /w/f, and all below /r"
        );
        assert_eq!(Question::FileChange.action(&root, None), "/r");

        let change = json!({"type": "fileChange", "changes": [
            {"path": "/w/a", "kind": {"type": "add"}, "diff": "x"},
            {"path": "/w/b", "kind": {"type": "update", "move_path": "/w/c"}},
            {"path": "/w/d", "kind": {"type": "update", "move_path": null}},
        ]});
        assert_eq!(
            item_action(&change).as_deref(),
            Some("add /w/a, update /w/b as /w/c, update /w/d")
        );
        assert_eq!(item_action(&json!({"type": "reasoning"})), None);
    }

    #[test]
    fn what_is_refused_is_not_granted() {
        let params = json!({"permissions": {"network": {"enabled": true}}});
        assert_eq!(
            Question::Permissions.answer(&params, true),
            json!({"permissions": {"network": {"enabled": true}}, "scope": "turn"})
        );
        assert_eq!(
            Question::Permissions.answer(&params, false),
            json!({"permissions": {}, "scope": "turn"})
        );
        assert_eq!(Question::Elicitation.answer(&params, false), json!({"action": "decline"}));
    }
}
