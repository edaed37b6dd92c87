//! The Response object: the state of the reply and an echo of the request's settings.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::item::ItemView;
use crate::script::Usage;
use crate::wire::Request;
use crate::wire::clock::CREATED_AT;
use crate::wire::sse::append_fields;

/// The part of a Response object that changes while the reply is written.
#[derive(Debug, Serialize)]
pub(super) struct Snapshot<'r> {
    id: &'r str,
    object: &'static str,
    created_at: u64,
    completed_at: Option<u64>,
    status: &'static str,
    error: Option<()>,
    incomplete_details: Option<()>,
    output: &'r [ItemView<'r>],
    usage: Option<UsageView>,
}

impl<'r> Snapshot<'r> {
    /// Nothing is written yet.
    pub(super) fn in_progress(id: &'r str) -> Self {
        Self {
            id,
            object: "response",
            created_at: CREATED_AT,
            completed_at: None,
            status: "in_progress",
            error: None,
            incomplete_details: None,
            output: &[],
            usage: None,
        }
    }

    /// Everything is written.
    pub(super) fn completed(id: &'r str, output: &'r [ItemView<'r>], usage: Usage) -> Self {
        Self {
            completed_at: Some(CREATED_AT),
            status: "completed",
            output,
            usage: Some(UsageView::from(usage)),
            ..Self::in_progress(id)
        }
    }
}

/// Writes a whole Response object.
///
/// # Errors
/// When the snapshot cannot be written as JSON.
pub(super) fn write_snapshot(
    buffer: &mut Vec<u8>,
    snapshot: &Snapshot<'_>,
    echo: &[u8],
) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *buffer, snapshot)?;
    buffer.pop();
    buffer.extend_from_slice(echo);
    buffer.push(b'}');
    Ok(())
}

/// The echo of the request's settings, as the fields of an object with a comma before each: it is
/// the same in every snapshot of a reply and can be long (it holds the tools), so it is encoded
/// once.
///
/// # Errors
/// When a setting cannot be written as JSON.
pub(super) fn echo(request: &Request<'_>) -> serde_json::Result<Vec<u8>> {
    let mut fields = Vec::with_capacity(1024);
    append_fields(&mut fields, &Echo(request))?;
    Ok(fields)
}

struct Echo<'r>(&'r Request<'r>);

impl Serialize for Echo<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(request) = self;
        let mut map = serializer.serialize_map(Some(SETTINGS.len() + 4))?;
        for (name, default) in SETTINGS {
            match request.setting(name) {
                Some(sent) => map.serialize_entry(name, sent)?,
                None => map.serialize_entry(name, default)?,
            }
        }
        map.serialize_entry("tools", &tools(request.setting("tools")))?;
        map.serialize_entry(
            "text",
            &completed(
                request.setting("text").unwrap_or(&json!({})),
                &[("format", json!({"type": "text"}))],
            ),
        )?;
        map.serialize_entry(
            "reasoning",
            &completed(
                request.setting("reasoning").unwrap_or(&json!({})),
                &[("effort", Value::Null), ("summary", Value::Null)],
            ),
        )?;
        // `auto` asks the server to choose; the answer names what was chosen.
        let tier = request.setting("service_tier").filter(|tier| *tier != "auto");
        map.serialize_entry("service_tier", tier.unwrap_or(&json!("default")))?;
        map.end()
    }
}

/// The settings that are echoed as they were sent, with the value of a request that left them out.
const SETTINGS: &[(&str, IfAbsent)] = &[
    ("model", IfAbsent::Null),
    ("instructions", IfAbsent::Null),
    ("previous_response_id", IfAbsent::Null),
    ("tool_choice", IfAbsent::Text("auto")),
    ("parallel_tool_calls", IfAbsent::Bool(true)),
    ("max_tool_calls", IfAbsent::Null),
    ("max_output_tokens", IfAbsent::Null),
    ("temperature", IfAbsent::Number(1.0)),
    ("top_p", IfAbsent::Number(1.0)),
    ("top_logprobs", IfAbsent::Count(0)),
    ("presence_penalty", IfAbsent::Number(0.0)),
    ("frequency_penalty", IfAbsent::Number(0.0)),
    ("truncation", IfAbsent::Text("disabled")),
    ("store", IfAbsent::Bool(true)),
    ("background", IfAbsent::Bool(false)),
    ("metadata", IfAbsent::EmptyMap {}),
    ("prompt_cache_key", IfAbsent::Null),
    ("safety_identifier", IfAbsent::Null),
    ("user", IfAbsent::Null),
];

#[derive(Serialize)]
#[serde(untagged)]
enum IfAbsent {
    Null,
    Bool(bool),
    Count(u64),
    Number(f64),
    Text(&'static str),
    EmptyMap {},
}

/// A map with the keys that it always has in a Response object.
fn completed<'v>(sent: &'v Value, always: &[(&str, Value)]) -> Cow<'v, Value> {
    match sent {
        Value::Object(map) if always.iter().any(|(key, _)| !map.contains_key(*key)) => {
            let mut map = map.clone();
            for (key, value) in always {
                map.entry(*key).or_insert_with(|| value.clone());
            }
            Cow::Owned(Value::Object(map))
        }
        sent => Cow::Borrowed(sent),
    }
}

/// The tools as sent, but each function with the keys that a Response object always has.
fn tools(sent: Option<&Value>) -> Vec<Cow<'_, Value>> {
    let always =
        [("description", Value::Null), ("parameters", Value::Null), ("strict", Value::Bool(true))];
    match sent {
        Some(Value::Array(tools)) => tools
            .iter()
            .map(|tool| match tool["type"].as_str() {
                Some("function") => completed(tool, &always),
                _ => Cow::Borrowed(tool),
            })
            .collect(),
        // Not a list, so not a request that the API knows: shown as it came.
        Some(sent) => vec![Cow::Borrowed(sent)],
        None => Vec::new(),
    }
}

#[derive(Debug, Serialize)]
struct UsageView {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Debug, Serialize)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Debug, Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input,
            input_tokens_details: InputDetails {
                cached_tokens: usage.cached,
                cache_write_tokens: 0,
            },
            output_tokens: usage.output,
            output_tokens_details: OutputDetails { reasoning_tokens: usage.reasoning },
            total_tokens: usage.total(),
        }
    }
}
