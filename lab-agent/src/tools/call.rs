//! Calls: what the model wants, read from the wire or refused.

use serde::Deserialize;

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

pub(super) fn parse_arguments<'a, T: Deserialize<'a>>(
    tool: &'static str,
    arguments: &'a str,
) -> Result<T, CallError> {
    serde_json::from_str(arguments)
        .map_err(|error| CallError::BadArguments { tool, reason: error.to_string() })
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
}
