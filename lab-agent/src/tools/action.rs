//! Actions: a call together with the file that it really means.

use serde_json::{Value, json};

use super::{Outcome, Shell, ToolCall, edit, read, write};
use crate::workspace::Target;

/// A call together with the file that it really means. Approvals are bound to the whole of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Action {
    pub(crate) call: ToolCall,
    /// The resolved file; none for a shell command.
    pub(crate) target: Option<Target>,
}

impl Action {
    /// What an approver is shown: the real command, or the real path and the number of bytes.
    pub(crate) fn describe(&self) -> Value {
        let target = self.target.as_ref().map(|target| target.path.display().to_string());
        match &self.call {
            ToolCall::Shell { command, timeout_ms: None } => json!({ "command": command }),
            ToolCall::Shell { command, timeout_ms: Some(limit) } => {
                json!({ "command": command, "timeout_ms": limit })
            }
            ToolCall::Read { path } => json!({ "path": path, "target": target }),
            ToolCall::Write { path, content } => {
                json!({ "path": path, "target": target, "bytes": content.len() })
            }
            ToolCall::Edit { path, old, new } => json!({
                "path": path,
                "target": target,
                "replaces_bytes": old.len(),
                "bytes": new.len(),
            }),
        }
    }

    /// Whether it reads the text of a skill.
    pub(crate) fn opens_skill(&self) -> bool {
        matches!(&self.call, ToolCall::Read { path } if path.ends_with("/SKILL.md"))
    }

    /// Does what the action says. File tools work on the resolved target, never on the spelling.
    pub(crate) async fn run(&self, shell: &Shell) -> Outcome {
        match (&self.call, &self.target) {
            (ToolCall::Shell { command, timeout_ms }, _) => shell.run(command, *timeout_ms).await,
            (ToolCall::Read { .. }, Some(target)) => read::run(target),
            (ToolCall::Write { content, .. }, Some(target)) => write::run(target, content),
            (ToolCall::Edit { old, new, .. }, Some(target)) => edit::run(target, old, new),
            (call, None) => Outcome::error(format!("{} names no file", call.tool())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approver_sees_the_resolved_file_and_the_size() {
        let action = Action {
            call: ToolCall::Write { path: "a/../b".to_owned(), content: "four".to_owned() },
            target: Some(Target::for_tests("/w/b")),
        };
        assert_eq!(action.describe(), json!({ "path": "a/../b", "target": "/w/b", "bytes": 4 }));
    }
}
