//! The offer: the tools as a request defines them.

use serde_json::{Value, json};

use super::spawn::SPAWN;

/// The tools as every turn's request offers them; a sub-agent has no sub-agents.
pub(crate) fn offered(to_sub_agent: bool) -> Value {
    let mut tools = common();
    if !to_sub_agent {
        tools.push(function(
            SPAWN,
            "Have a sub-agent do a part of the work, and get its answer.",
            &json!({ "task": { "type": "string", "description": "All that it needs to know." } }),
            &["task"],
        ));
    }
    Value::Array(tools)
}

fn common() -> Vec<Value> {
    vec![
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
    ]
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
