//! Cache breakpoints.

use serde_json::Value;

use super::block;
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, list, text};

/// The most breakpoints of a request.
const LIMIT: usize = 4;

/// A26: at most 4 breakpoints, long ones before short ones, none on empty or thinking blocks.
pub(super) fn breakpoints(subject: &Subject<'_>) -> Option<Broken> {
    // In the order in which the service puts the prompt together.
    let tools = subject.list("tools").map(|(index, tool)| (format!("tools.{index}"), tool));
    let system =
        list(subject.json, "system").map(|(index, block)| (format!("system.{index}"), block));
    let blocks = block::all(subject).map(|block| (block.path(), block.value));
    let marked: Vec<(String, &Value, &Value)> = tools
        .chain(system)
        .chain(blocks)
        .filter_map(|(path, value)| {
            let control = value.get("cache_control").filter(|control| !control.is_null())?;
            Some((path, value, control))
        })
        .collect();
    if marked.len() > LIMIT {
        let found = marked.len();
        return Some(Broken::whole(format!(
            "at most {LIMIT} blocks can have cache_control, and {found} have it"
        )));
    }
    let mut has_short = false;
    for (path, value, control) in marked {
        match text(value, "type") {
            Some("thinking" | "redacted_thinking") => {
                return Some(Broken::whole(format!(
                    "{path}.cache_control: a thinking block cannot have it"
                )));
            }
            Some("text") if text(value, "text").is_some_and(str::is_empty) => {
                return Some(Broken::whole(format!(
                    "{path}.cache_control: an empty text block cannot have it"
                )));
            }
            _ => {}
        }
        let is_long = text(control, "ttl") == Some("1h");
        if is_long && has_short {
            return Some(Broken::whole(format!(
                "{path}.cache_control.ttl: a breakpoint of 1h cannot come after one of 5m"
            )));
        }
        has_short |= !is_long;
    }
    None
}
