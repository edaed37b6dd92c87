//! Offered tools.

use std::collections::HashSet;

use serde_json::Value;

use super::block;
use crate::validate::broken::Broken;
use crate::validate::name;
use crate::validate::schema;
use crate::validate::subject::{Subject, text};

/// The most characters of a tool's name.
const NAME_LIMIT: usize = 128;

/// Whether a tool is the client's own, and not one of the service.
fn is_custom(tool: &Value) -> bool {
    matches!(tool.get("type"), None | Some(Value::Null)) || text(tool, "type") == Some("custom")
}

/// A22: a tool name has the right characters, and 1 to 128 of them.
pub(super) fn bad_name(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("tools").filter(|(_, tool)| is_custom(tool)).find_map(|(index, tool)| {
        let name = text(tool, "name").unwrap_or_default();
        let problem = name::problem(name, NAME_LIMIT)?.in_words(name, NAME_LIMIT);
        Some(Broken::whole(format!("tools.{index}.custom.name: {problem}")))
    })
}

/// A23: no two tools have the same name.
pub(super) fn duplicate(subject: &Subject<'_>) -> Option<Broken> {
    let mut seen = HashSet::new();
    let names = subject.list("tools").filter_map(|(_, tool)| text(tool, "name"));
    let twice = names.into_iter().find(|name| !seen.insert(*name))?;
    Some(Broken::whole(format!("tools: Tool names must be unique, and '{twice}' is not")))
}

/// A24: a tool of the client has an input schema, which is an object schema.
pub(super) fn bad_schema(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("tools").filter(|(_, tool)| is_custom(tool)).find_map(|(index, tool)| {
        let problem = match tool.get("input_schema") {
            None | Some(Value::Null) => "the field is required".to_owned(),
            Some(schema) => schema::not_object(schema)?,
        };
        Some(Broken::whole(format!("tools.{index}.custom.input_schema: {problem}")))
    })
}

/// A29: a request with calls or results in its messages defines tools.
pub(super) fn none_defined(subject: &Subject<'_>) -> Option<Broken> {
    if subject.list("tools").next().is_some() {
        return None;
    }
    block::all(subject).find(|block| matches!(block.kind(), "tool_use" | "tool_result"))?;
    Some(Broken::whole("a request with `tool_use` or `tool_result` blocks must define tools"))
}
