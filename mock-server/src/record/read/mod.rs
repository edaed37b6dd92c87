//! From the bytes of a real reply to the reply of a script.

mod chat;
mod messages;
mod responses;
mod sse;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::script::{CallPayload, Reply};
use crate::wire::Wire;
use crate::wire::json::map_text;
use sse::Event;

/// A reply as a script can say it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Read {
    pub(super) reply: Reply,
    /// What it held that a script cannot say.
    pub(super) left_out: Vec<String>,
}

/// Reads the body of a reply on a wire.
///
/// # Errors
/// Why there is no reply in it.
pub(super) fn read(wire: Wire, body: &[u8]) -> Result<Read, String> {
    let text = std::str::from_utf8(body).map_err(|error| format!("it is not UTF-8: {error}"))?;
    // The content type is not asked: some services leave it out.
    if text.trim_start().starts_with('{') {
        let whole: Value = serde_json::from_str(text)
            .map_err(|error| format!("its body cannot be parsed as JSON: {error}"))?;
        return match wire {
            Wire::Responses | Wire::ResponsesWs => responses::whole(&whole),
            Wire::Chat => chat::whole(&whole),
            Wire::Messages => messages::whole(&whole),
        };
    }
    let events = sse::events(text)?;
    match wire {
        Wire::Responses | Wire::ResponsesWs => responses::stream(&events),
        Wire::Chat => chat::stream(&events),
        Wire::Messages => messages::stream(&events),
    }
}

/// Reads the events of a reply that came over a `WebSocket`, one a message.
///
/// # Errors
/// Why there is no reply in them.
pub(super) fn socket(events: Vec<Value>) -> Result<Read, String> {
    let events: Vec<Event> = events.into_iter().map(|data| Event { data }).collect();
    responses::stream(&events)
}

/// Arguments as a map, if the map's text is the very same; as text otherwise.
fn arguments(text: &str) -> CallPayload {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(map) if map_text(&map) == text && !map.values().any(has_fraction) => {
            CallPayload::Arguments(map)
        }
        _ => CallPayload::RawArguments(text.to_owned()),
    }
}

/// Whether a number in it might be written otherwise when it is read from YAML.
fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Object(map) => map.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// A field that is a string; empty when it is absent or something else.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn optional_text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

/// The items of a list; none when it is absent or something else.
fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// A number of tokens; 0 when it is absent.
fn tokens(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

/// The message of an error that came instead of a reply's end.
fn error_in(value: &Value) -> String {
    let error = if value["error"].is_object() { &value["error"] } else { value };
    let kind = error["code"].as_str().or(error["type"].as_str()).unwrap_or("unknown");
    format!("the service answered with an error: {kind}")
}
