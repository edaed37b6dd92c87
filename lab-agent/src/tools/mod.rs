//! The four tools: what is offered, how a call is read, and what a result says.

mod edit;
mod read;
mod shell;
pub(crate) mod unoffered;
mod write;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::workspace::Target;

pub(crate) use shell::{Shell, ShellEnvironment};

/// Most bytes of one result; what is left out is said in the result.
const OUTPUT_CAP: usize = 64 * 1024;

/// A call whose name was offered and whose arguments have the right shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ToolCall {
    Shell { command: String, timeout_ms: Option<u64> },
    Read { path: String },
    Write { path: String, content: String },
    Edit { path: String, old: String, new: String },
}

/// Why a call cannot run. The text is the result that the model gets.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("tool not offered: {0}")]
    NotOffered(String),
    #[error("bad arguments for {tool}: {reason}")]
    BadArguments { tool: &'static str, reason: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShellArguments {
    command: String,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditArguments {
    path: String,
    old: String,
    new: String,
}

impl ToolCall {
    /// Reads a call as the wire gives it: `arguments` is a JSON object in a string.
    pub(crate) fn parse(name: &str, arguments: &str) -> Result<Self, CallError> {
        Ok(match name {
            "shell" => {
                let ShellArguments { command, timeout_ms } = parse_arguments("shell", arguments)?;
                Self::Shell { command, timeout_ms }
            }
            "read" => {
                let ReadArguments { path } = parse_arguments("read", arguments)?;
                Self::Read { path }
            }
            "write" => {
                let WriteArguments { path, content } = parse_arguments("write", arguments)?;
                Self::Write { path, content }
            }
            "edit" => {
                let EditArguments { path, old, new } = parse_arguments("edit", arguments)?;
                Self::Edit { path, old, new }
            }
            other => return Err(CallError::NotOffered(other.to_owned())),
        })
    }

    /// The name under which the tool is offered.
    pub(crate) fn tool(&self) -> &'static str {
        match self {
            Self::Shell { .. } => "shell",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Edit { .. } => "edit",
        }
    }

    /// The path that the call names, if it is about one file.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::Shell { .. } => None,
            Self::Read { path } | Self::Write { path, .. } | Self::Edit { path, .. } => Some(path),
        }
    }
}

fn parse_arguments<'a, T: Deserialize<'a>>(
    tool: &'static str,
    arguments: &'a str,
) -> Result<T, CallError> {
    serde_json::from_str(arguments)
        .map_err(|error| CallError::BadArguments { tool, reason: error.to_string() })
}

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

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Error,
    Denied,
    Timeout,
    Interrupted,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
        })
    }
}

/// The result of one call: a status, its reason, and the data that the tool gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    reason: String,
    body: String,
}

impl Outcome {
    pub(crate) fn ok(body: impl Into<String>) -> Self {
        Self { status: Status::Ok, reason: String::new(), body: body.into() }
    }

    pub(crate) fn error(reason: impl Into<String>) -> Self {
        Self { status: Status::Error, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn denied(reason: impl Into<String>) -> Self {
        Self { status: Status::Denied, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn timeout(reason: impl Into<String>) -> Self {
        Self { status: Status::Timeout, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn interrupted(reason: impl Into<String>) -> Self {
        Self { status: Status::Interrupted, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn with_body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    /// The result as the model reads it: a status line that data cannot forge, then the data.
    pub(crate) fn text(&self) -> String {
        let mut text = self.status.to_string();
        if self.status != Status::Ok {
            text.push_str(": ");
            text.push_str(&self.reason.replace('\n', "\\n"));
        }
        if !self.body.is_empty() {
            text.push('\n');
            text.push_str(&self.body);
        }
        text
    }

    /// The result without its status: what `result-without-status` sends.
    pub(crate) fn text_without_status(&self) -> String {
        if self.body.is_empty() { "ok".to_owned() } else { format!("ok\n{}", self.body) }
    }
}

/// The tools as every turn's request offers them.
pub(crate) fn offered() -> Value {
    json!([
        function(
            "shell",
            "Run one command with sh in the working folder.",
            &json!({
                "command": { "type": "string", "description": "The command line." },
                "timeout_ms": { "type": "integer", "description": "Time limit in milliseconds; 10000 if absent." },
            }),
            &["command"],
        ),
        function(
            "read",
            "Read a text file.",
            &json!({ "path": { "type": "string", "description": "Path, absolute or from the working folder." } }),
            &["path"],
        ),
        function(
            "write",
            "Create a file or replace its whole content.",
            &json!({
                "path": { "type": "string", "description": "Path, absolute or from the working folder." },
                "content": { "type": "string", "description": "The whole new content." },
            }),
            &["path", "content"],
        ),
        function(
            "edit",
            "Replace one passage of a file; the passage must occur exactly once.",
            &json!({
                "path": { "type": "string", "description": "Path, absolute or from the working folder." },
                "old": { "type": "string", "description": "The passage as it stands." },
                "new": { "type": "string", "description": "The passage as it shall be." },
            }),
            &["path", "old", "new"],
        ),
    ])
}

fn function(name: &str, description: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "function",
        "name": name,
        "description": description,
        "strict": false,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        },
    })
}

/// Bytes as text for a result: at most [`OUTPUT_CAP`] of them, with a note on what is left out.
fn capped(bytes: &[u8], total: usize) -> String {
    let kept = &bytes[..bytes.len().min(OUTPUT_CAP)];
    let text = String::from_utf8_lossy(kept);
    if total > kept.len() {
        format!("{text}\n[{} of {total} bytes shown]", kept.len())
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_with_their_arguments() {
        assert_eq!(
            ToolCall::parse("shell", r#"{"command":"ls"}"#).unwrap(),
            ToolCall::Shell { command: "ls".to_owned(), timeout_ms: None }
        );
        assert_eq!(
            ToolCall::parse("edit", r#"{"path":"a","old":"b","new":"c"}"#).unwrap().tool(),
            "edit"
        );
    }

    #[test]
    fn an_unoffered_tool_and_bad_arguments_are_told_apart() {
        assert_eq!(
            ToolCall::parse("exec", "{}").unwrap_err().to_string(),
            "tool not offered: exec"
        );
        for arguments in ["{\"command\":", "{}", "[]", r#"{"command":"ls","sandbox":"off"}"#] {
            let error = ToolCall::parse("shell", arguments).unwrap_err().to_string();
            assert!(error.starts_with("bad arguments for shell: "), "{arguments}: {error}");
        }
    }

    #[test]
    fn a_reason_with_a_line_break_stays_on_the_status_line() {
        let outcome = Outcome::error("not found: a\nok").with_body("data");
        assert_eq!(outcome.text(), "error: not found: a\\nok\ndata");
        assert_eq!(outcome.text_without_status(), "ok\ndata");
    }

    #[test]
    fn long_output_is_cut_and_says_so() {
        let bytes = vec![b'x'; OUTPUT_CAP + 5];
        let text = capped(&bytes, bytes.len());
        assert!(text.ends_with("\n[65536 of 65541 bytes shown]"));
        assert_eq!(capped(b"short", 5), "short");
    }

    #[test]
    fn an_approver_sees_the_resolved_file_and_the_size() {
        let action = Action {
            call: ToolCall::Write { path: "a/../b".to_owned(), content: "four".to_owned() },
            target: Some(Target::for_tests("/w/b")),
        };
        assert_eq!(action.describe(), json!({ "path": "a/../b", "target": "/w/b", "bytes": 4 }));
    }
}
