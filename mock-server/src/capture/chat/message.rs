//! Messages. The roles follow the public API; `reasoning_content`, `reasoning` and
//! `reasoning_details` are what other servers of this wire send and want back.

use serde_json::Value;

use super::content;
use crate::capture::collector::{Collector, Origin};
use crate::capture::segment::{Authority, SegmentKind};
use crate::capture::{part, role};

/// Fields in which reasoning is replayed as text.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Fields that an assistant's message alone has.
const ASSISTANT_FIELDS: [&str; 6] = [
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "refusal",
    "tool_calls",
    "function_call",
];

/// Adds the segments of the message at `index`.
pub(super) fn capture(collector: &mut Collector, index: usize, value: &Value) {
    let pointer = format!("/messages/{index}");
    if !value.is_object() {
        collector.wrong_type(pointer, value);
        return;
    }
    let (role, authority) = role::of_message(collector, &pointer, value, authority);
    let item = collector.next_item();
    let origin = Origin { role, ..Origin::item(item, "message", authority) };
    match role {
        "tool" => {
            let call_id = value.get("tool_call_id").and_then(Value::as_str);
            content::result(collector, &pointer, &Origin { call_id, ..origin }, value);
        }
        // Without an id, a function is found by its name.
        "function" => {
            let call_id = value.get("name").and_then(Value::as_str);
            content::result(collector, &pointer, &Origin { call_id, ..origin }, value);
        }
        _ => message(collector, &pointer, &origin, value),
    }
}

fn authority(role: &str) -> Option<Authority> {
    Some(match role {
        "system" => Authority::System,
        "developer" => Authority::Developer,
        "user" => Authority::User,
        "assistant" => Authority::Assistant,
        "tool" | "function" => Authority::Tool,
        _ => return None,
    })
}

fn message(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, value: &Value) {
    let sent = |field: &&str| value.get(*field).is_some_and(|found| !found.is_null());
    if origin.role != "assistant" {
        for field in ASSISTANT_FIELDS.iter().filter(|field| sent(field)) {
            collector.unknown(format!("{pointer}/{field}"), format!("({field} outside assistant)"));
        }
    }
    reasoning(collector, pointer, origin, value);
    // An assistant may call without a word; an audio answer is referred to by its id.
    let silent = origin.role == "assistant"
        && !sent(&"content")
        && ["tool_calls", "function_call", "refusal", "audio"].iter().any(sent);
    if !silent {
        content::message(collector, pointer, origin, value);
    }
    let refusal = Origin { native_type: "refusal", ..*origin };
    part::optional_text(collector, pointer, "refusal", &refusal, SegmentKind::Text, value);
    calls(collector, pointer, origin, value);
}

fn reasoning(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, value: &Value) {
    for native_type in REASONING {
        let origin = Origin { native_type, ..*origin };
        let kind = SegmentKind::Reasoning;
        part::optional_text(collector, pointer, native_type, &origin, kind, value);
    }
    match value.get("reasoning_details") {
        None | Some(Value::Null) => {}
        Some(Value::Array(details)) => {
            for (index, detail) in details.iter().enumerate() {
                let at = format!("{pointer}/reasoning_details/{index}");
                content::reasoning_detail(collector, &at, origin, detail);
            }
        }
        Some(other) => collector.wrong_type(format!("{pointer}/reasoning_details"), other),
    }
}

fn calls(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, value: &Value) {
    match value.get("tool_calls") {
        None | Some(Value::Null) => {}
        Some(Value::Array(calls)) => {
            for (index, call) in calls.iter().enumerate() {
                let item = Some(collector.next_item());
                let at = format!("{pointer}/tool_calls/{index}");
                tool_call(collector, &at, &Origin { item, ..*origin }, call);
            }
        }
        Some(other) => collector.wrong_type(format!("{pointer}/tool_calls"), other),
    }
    match value.get("function_call") {
        None | Some(Value::Null) => {}
        Some(function) => {
            let name = function.get("name").and_then(Value::as_str);
            let item = Some(collector.next_item());
            let native_type = "function_call";
            let origin = Origin { item, native_type, call_id: name, tool: name, ..*origin };
            payload(collector, &format!("{pointer}/function_call"), "arguments", &origin, function);
        }
    }
}

fn tool_call(collector: &mut Collector, pointer: &str, origin: &Origin<'_>, call: &Value) {
    let native_type = match call.get("type") {
        Some(Value::String(native_type)) => native_type,
        // Several servers leave it out, as they did when functions were all there was.
        None if call.get("function").is_some() => "function",
        Some(other) => {
            collector.wrong_type(format!("{pointer}/type"), other);
            ""
        }
        None => {
            collector.unknown(pointer, "(no type)");
            ""
        }
    };
    let called = call.get(native_type);
    let origin = Origin {
        native_type,
        call_id: call.get("id").and_then(Value::as_str),
        tool: called.and_then(|called| called.get("name")).and_then(Value::as_str),
        ..*origin
    };
    let at = format!("{pointer}/{native_type}");
    match (native_type, called) {
        ("function", Some(function)) => {
            payload(collector, &at, "arguments", &origin, function);
        }
        ("custom", Some(custom)) => payload(collector, &at, "input", &origin, custom),
        // A call without its payload is kept, or its result would look like an orphan.
        ("function" | "custom", None) => {
            collector.unknown(pointer, format!("(no {native_type})"));
            collector.segment(pointer, &origin, SegmentKind::Call, "");
        }
        ("", _) => collector.value(pointer, &origin, SegmentKind::Call, call),
        _ => part::unknown(collector, pointer, &origin, SegmentKind::Call, call),
    }
}

fn payload(
    collector: &mut Collector,
    pointer: &str,
    field: &str,
    origin: &Origin<'_>,
    called: &Value,
) {
    match called.get(field) {
        Some(found) => {
            let at = format!("{pointer}/{field}");
            part::text(collector, &at, origin, SegmentKind::Call, found);
        }
        None if called.is_object() => {
            collector.unknown(pointer, format!("(no {field})"));
            collector.segment(pointer, origin, SegmentKind::Call, "");
        }
        None => {
            collector.wrong_type(pointer, called);
            collector.value(pointer, origin, SegmentKind::Call, called);
        }
    }
}
