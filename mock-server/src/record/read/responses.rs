//! Replies of `OpenAI` Responses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Event, Read, arguments, error_in, list, optional_text, text, tokens};
use crate::script::{Call, CallPayload, Ending, Item, Usage};

/// Reads a Response object.
pub(super) fn whole(response: &Value) -> Result<Read, String> {
    read(response, &list(response, "output").iter().collect::<Vec<_>>())
}

/// Reads the events of a reply: the items as each was done, since the last event of some services
/// holds none.
pub(super) fn stream(events: &[Event]) -> Result<Read, String> {
    let mut items: BTreeMap<u64, &Value> = BTreeMap::new();
    for event in events {
        let data = &event.data;
        match event.kind() {
            "response.output_item.done" => {
                items.insert(tokens(data, "output_index"), &data["item"]);
            }
            "response.completed" | "response.incomplete" => {
                let response = &data["response"];
                if items.is_empty() {
                    return whole(response);
                }
                return read(response, &items.into_values().collect::<Vec<_>>());
            }
            "response.failed" => return Err(error_in(&data["response"])),
            "error" => return Err(error_in(data)),
            _ => {}
        }
    }
    Err("the stream has no end".to_owned())
}

fn read(response: &Value, items: &[&Value]) -> Result<Read, String> {
    let mut read = Read::default();
    read.reply.ending = match (text(response, "status"), &response["incomplete_details"]) {
        ("completed", _) => Ending::Complete,
        ("incomplete", details) => match text(details, "reason") {
            "max_output_tokens" => Ending::Length,
            "content_filter" => Ending::Filtered,
            other => return Err(format!("it is incomplete for the reason {other:?}")),
        },
        ("failed", _) => return Err(error_in(response)),
        (other, _) => return Err(format!("its status is {other:?}")),
    };
    for &value in items {
        match item(value, &mut read.left_out) {
            Some(item) => read.reply.items.push(item),
            None => read.left_out.push(format!("an item of type {:?}", text(value, "type"))),
        }
    }
    let usage = &response["usage"];
    if usage.is_object() {
        read.reply.usage = Usage {
            input: tokens(usage, "input_tokens"),
            cached: tokens(&usage["input_tokens_details"], "cached_tokens"),
            output: tokens(usage, "output_tokens"),
            reasoning: tokens(&usage["output_tokens_details"], "reasoning_tokens"),
        };
    }
    Ok(read)
}

fn item(item: &Value, left_out: &mut Vec<String>) -> Option<Item> {
    match text(item, "type") {
        "message" => Some(message(item, left_out)),
        "function_call" => Some(call(item, arguments(text(item, "arguments")))),
        "custom_tool_call" => Some(call(item, CallPayload::Input(text(item, "input").to_owned()))),
        "reasoning" => {
            if !list(item, "content").is_empty() {
                left_out.push("the full text of a reasoning item".to_owned());
            }
            let summary = list(item, "summary").iter().map(|part| text(part, "text").to_owned());
            Some(Item::Reasoning {
                summary: summary.collect(),
                content: Vec::new(),
                encrypted_content: optional_text(item, "encrypted_content"),
            })
        }
        _ => None,
    }
}

fn message(item: &Value, left_out: &mut Vec<String>) -> Item {
    let mut said = String::new();
    for part in list(item, "content") {
        match text(part, "type") {
            "output_text" => said.push_str(text(part, "text")),
            other => left_out.push(format!("a part of a message of type {other:?}")),
        }
        if !list(part, "annotations").is_empty() {
            left_out.push("the annotations of a message".to_owned());
        }
    }
    Item::Message { text: said, phase: optional_text(item, "phase") }
}

fn call(item: &Value, payload: CallPayload) -> Item {
    Item::Call(Call {
        namespace: optional_text(item, "namespace"),
        call_id: optional_text(item, "call_id"),
        ..Call::new(text(item, "name"), payload)
    })
}
