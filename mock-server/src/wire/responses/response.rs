//! The Response object: the state of the reply and an echo of the request's settings.

use serde_json::{Map, Value};

use crate::script::{Ending, Reply, Usage};
use crate::wire::Request;
use crate::wire::clock::CREATED_AT;
use crate::wire::json::{Object, write_list, write_text, write_value};

/// The part of a Response object that changes while the reply is written.
#[derive(Debug)]
pub(super) struct Snapshot<'r> {
    id: &'r str,
    /// The finished items, as JSON, and the reply; none while it is written.
    finished: Option<(&'r [Vec<u8>], &'r Reply)>,
}

impl<'r> Snapshot<'r> {
    /// Nothing is written yet.
    pub(super) fn in_progress(id: &'r str) -> Self {
        Self { id, finished: None }
    }

    /// Everything is written; the items are JSON.
    pub(super) fn finished(id: &'r str, output: &'r [Vec<u8>], reply: &'r Reply) -> Self {
        Self { id, finished: Some((output, reply)) }
    }

    /// Writes the whole Response object.
    pub(super) fn write(&self, buffer: &mut Vec<u8>, echo: &Echo) {
        let object = Object::begin(buffer)
            .text("id", self.id)
            .text("object", "response")
            .number("created_at", CREATED_AT);
        let object = match self.finished {
            None => object
                .raw("completed_at", "null")
                .text("status", "in_progress")
                .raw("error", "null")
                .raw("incomplete_details", "null")
                .raw("output", "[]")
                .raw("usage", "null"),
            Some((output, reply)) => {
                let object = write_end(object, &reply.ending).with("output", |buffer| {
                    write_list(buffer, output, |buffer, item| buffer.extend_from_slice(item));
                });
                let object = match reply.ending.failure() {
                    None => object.object("usage", |object| write_usage(object, reply.usage)),
                    // What failed has counted nothing.
                    Some(_) => object.raw("usage", "null"),
                };
                match reply.end_turn {
                    Some(end_turn) => object.raw("end_turn", end_turn.to_string()),
                    None => object,
                }
            }
        };
        object.end_with(&echo.fields);
    }
}

fn write_end<'b>(object: Object<'b>, ending: &Ending) -> Object<'b> {
    let reason = match ending {
        // A stop sequence does not come over this wire: the reply is refused before.
        Ending::Complete | Ending::StopSequence(_) => {
            return object
                .number("completed_at", CREATED_AT)
                .text("status", "completed")
                .raw("error", "null")
                .raw("incomplete_details", "null");
        }
        Ending::Failed(failure) | Ending::Error { failure, .. } => {
            return object
                .raw("completed_at", "null")
                .text("status", "failed")
                .object("error", |error| {
                    error
                        .text("code", &failure.code)
                        .text("message", &failure.message)
                        .optional_text("type", failure.kind.as_deref())
                })
                .raw("incomplete_details", "null");
        }
        Ending::Length => "max_output_tokens",
        Ending::Filtered => "content_filter",
        Ending::Reason(reason) => reason,
    };
    object
        .raw("completed_at", "null")
        .text("status", "incomplete")
        .raw("error", "null")
        .object("incomplete_details", |object| object.text("reason", reason))
}

fn write_usage(object: Object<'_>, usage: Usage) -> Object<'_> {
    object
        .number("input_tokens", usage.input)
        .object("input_tokens_details", |object| {
            object.number("cached_tokens", usage.cached).number("cache_write_tokens", 0_u64)
        })
        .number("output_tokens", usage.output)
        .object("output_tokens_details", |object| {
            object.number("reasoning_tokens", usage.reasoning)
        })
        .number("total_tokens", usage.total())
}

/// The settings that are echoed as they were sent, with the value of a request that left them out.
const SETTINGS: [(&str, &str); 19] = [
    ("model", "null"),
    ("instructions", "null"),
    ("previous_response_id", "null"),
    ("tool_choice", "\"auto\""),
    ("parallel_tool_calls", "true"),
    ("max_tool_calls", "null"),
    ("max_output_tokens", "null"),
    ("temperature", "1.0"),
    ("top_p", "1.0"),
    ("top_logprobs", "0"),
    ("presence_penalty", "0.0"),
    ("frequency_penalty", "0.0"),
    ("truncation", "\"disabled\""),
    ("store", "true"),
    ("background", "false"),
    ("metadata", "{}"),
    ("prompt_cache_key", "null"),
    ("safety_identifier", "null"),
    ("user", "null"),
];

/// The keys that a `text` setting, a `reasoning` setting and a function always have.
const TEXT: [(&str, &str); 1] = [("format", "{\"type\":\"text\"}")];
const REASONING: [(&str, &str); 2] = [("effort", "null"), ("summary", "null")];
const FUNCTION: [(&str, &str); 3] =
    [("description", "null"), ("parameters", "null"), ("strict", "true")];

/// The echo of the request's settings. It is the same in every snapshot of a reply and can be long
/// (it holds the tools), so it is encoded once.
#[derive(Debug)]
pub(super) struct Echo {
    /// The fields of the object after its first, and its end.
    fields: Vec<u8>,
}

impl Echo {
    /// The echo of a request.
    pub(super) fn of(request: &Request<'_>) -> Self {
        let mut fields = Vec::with_capacity(1024);
        let mut object = Object::resume(&mut fields);
        for (name, absent) in SETTINGS {
            object = object.with(name, |buffer| match request.setting(name) {
                Some(sent) => write_value(buffer, sent),
                None => buffer.extend_from_slice(absent.as_bytes()),
            });
        }
        object
            .with("tools", |buffer| write_tools(buffer, request.setting("tools")))
            .with("text", |buffer| write_completed(buffer, request.setting("text"), &TEXT))
            .with("reasoning", |buffer| {
                write_completed(buffer, request.setting("reasoning"), &REASONING);
            })
            .with("service_tier", |buffer| match request.setting("service_tier") {
                // `auto` asks the server to choose; the answer names what was chosen.
                Some(Value::String(tier)) if tier == "auto" => write_text(buffer, "default"),
                Some(sent) => write_value(buffer, sent),
                None => write_text(buffer, "default"),
            })
            .end();
        Self { fields }
    }

    /// How long it is in bytes.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }
}

/// Writes a map and those of its always present keys that it lacks.
fn write_completed(buffer: &mut Vec<u8>, sent: Option<&Value>, always: &[(&str, &str)]) {
    let none = Map::new();
    let map = match sent {
        None => &none,
        Some(Value::Object(map)) => map,
        // No map, so not a request that the API knows: shown as it came.
        Some(other) => return write_value(buffer, other),
    };
    let mut object = Object::begin(buffer);
    for (key, value) in map {
        object = object.escaped(key, |buffer| write_value(buffer, value));
    }
    for (key, value) in always.iter().filter(|(key, _)| !map.contains_key(*key)) {
        object = object.raw(key, value);
    }
    object.end();
}

/// Writes the tools as sent, but each function with all of its keys.
fn write_tools(buffer: &mut Vec<u8>, sent: Option<&Value>) {
    match sent {
        None => buffer.extend_from_slice(b"[]"),
        Some(Value::Array(tools)) => write_list(buffer, tools, |buffer, tool| {
            if tool["type"] == "function" {
                write_completed(buffer, Some(tool), &FUNCTION);
            } else {
                write_value(buffer, tool);
            }
        }),
        Some(other) => write_value(buffer, other),
    }
}
