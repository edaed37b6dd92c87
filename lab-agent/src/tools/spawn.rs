//! `spawn`: a task for a sub-agent. It is no action of its own: what the sub-agent does is asked
//! about and denied as if its parent did it.

use serde::Deserialize;

use super::call::{CallError, parse_arguments};

/// The name under which the tool is offered.
pub(crate) const SPAWN: &str = "spawn";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpawnArguments {
    task: String,
}

/// The task that a call hands over.
pub(crate) fn task_of(arguments: &str) -> Result<String, CallError> {
    let SpawnArguments { task } = parse_arguments(SPAWN, arguments)?;
    Ok(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_one_text() {
        assert_eq!(task_of(r#"{"task":"look"}"#).unwrap(), "look");
        for arguments in ["{}", r#"{"task":1}"#, r#"{"task":"look","policy":"full"}"#] {
            let error = task_of(arguments).unwrap_err().to_string();
            assert!(error.starts_with("bad arguments for spawn: "), "{error}");
        }
    }
}
