//! Replies of `OpenAI` Chat Completions.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Event, Read, arguments, error_in, list, optional_text, text, tokens};
use crate::script::{Call, CallPayload, Ending, Item, Reply, Usage};

/// The keys under which services send reasoning, which the API itself does not have.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads a completion object.
pub(super) fn whole(completion: &Value) -> Result<Read, String> {
    if completion["error"].is_object() {
        return Err(error_in(completion));
    }
    let mut message = Message::default();
    message.take_choices(completion, "message");
    message.finish(&completion["usage"])
}

/// Reads the chunks of a reply.
pub(super) fn stream(chunks: &[Event]) -> Result<Read, String> {
    let mut message = Message::default();
    let mut usage = &Value::Null;
    for Event { data: chunk } in chunks {
        if chunk["error"].is_object() {
            return Err(error_in(chunk));
        }
        message.take_choices(chunk, "delta");
        if chunk["usage"].is_object() {
            usage = &chunk["usage"];
        }
    }
    message.finish(usage)
}

/// The message as far as it has come.
#[derive(Debug, Default)]
struct Message {
    /// The parts, in the order in which each began.
    parts: Vec<Part>,
    calls: BTreeMap<u64, PartialCall>,
    finish_reason: Option<String>,
    left_out: Vec<String>,
}

#[derive(Debug)]
enum Part {
    Reasoning(String),
    Content(String),
}

#[derive(Debug, Default)]
struct PartialCall {
    id: Option<String>,
    is_custom: bool,
    name: String,
    payload: String,
}

impl Message {
    fn take_choices(&mut self, chunk: &Value, key: &str) {
        for choice in list(chunk, "choices") {
            if tokens(choice, "index") != 0 {
                self.leave_out("a choice beside the first");
                continue;
            }
            self.take(&choice[key]);
            if let Some(reason) = choice["finish_reason"].as_str() {
                self.finish_reason = Some(reason.to_owned());
            }
        }
    }

    /// Takes a message, or the next piece of one.
    fn take(&mut self, piece: &Value) {
        if let Some(more) = REASONING.iter().find_map(|key| piece[*key].as_str()) {
            self.more_reasoning(more);
        }
        if let Some(more) = piece["content"].as_str() {
            self.more_content(more);
        }
        for (place, call) in (0_u64..).zip(list(piece, "tool_calls")) {
            let index = call["index"].as_u64().unwrap_or(place);
            self.calls.entry(index).or_default().take(call);
        }
        if piece["refusal"].as_str().is_some_and(|refusal| !refusal.is_empty()) {
            self.leave_out("a refusal");
        }
        if piece["function_call"].is_object() {
            self.leave_out("a call in the old form");
        }
        if piece["audio"].is_object() {
            self.leave_out("audio");
        }
        if !list(piece, "annotations").is_empty() {
            self.leave_out("annotations");
        }
    }

    fn more_reasoning(&mut self, more: &str) {
        for part in &mut self.parts {
            if let Part::Reasoning(text) = part {
                return text.push_str(more);
            }
        }
        if !more.is_empty() {
            self.parts.push(Part::Reasoning(more.to_owned()));
        }
    }

    fn more_content(&mut self, more: &str) {
        for part in &mut self.parts {
            if let Part::Content(text) = part {
                return text.push_str(more);
            }
        }
        // A stream that will hold calls alone may begin with an empty content.
        if !more.is_empty() {
            self.parts.push(Part::Content(more.to_owned()));
        }
    }

    fn leave_out(&mut self, what: &str) {
        if !self.left_out.iter().any(|known| known == what) {
            self.left_out.push(what.to_owned());
        }
    }

    fn finish(self, usage: &Value) -> Result<Read, String> {
        let ending = match self.finish_reason.as_deref() {
            Some("stop" | "tool_calls" | "function_call") => Ending::Complete,
            Some("length") => Ending::Length,
            Some("content_filter") => Ending::Filtered,
            Some(other) => return Err(format!("its finish reason is {other:?}")),
            None => return Err("the reply has no finish reason".to_owned()),
        };
        let texts = self.parts.into_iter().map(|part| match part {
            Part::Reasoning(text) => Item::Reasoning {
                summary: vec![text],
                content: Vec::new(),
                encrypted_content: None,
            },
            Part::Content(text) => Item::message(text),
        });
        let calls = self.calls.into_values().map(PartialCall::finish);
        let mut reply = Reply { ending, ..Reply::of(texts.chain(calls)) };
        if usage.is_object() {
            reply.usage = Usage {
                input: tokens(usage, "prompt_tokens"),
                cached: tokens(&usage["prompt_tokens_details"], "cached_tokens"),
                output: tokens(usage, "completion_tokens"),
                reasoning: tokens(&usage["completion_tokens_details"], "reasoning_tokens"),
            };
        }
        Ok(Read { reply, left_out: self.left_out })
    }
}

impl PartialCall {
    fn take(&mut self, piece: &Value) {
        if let Some(id) = optional_text(piece, "id").filter(|id| !id.is_empty()) {
            self.id = Some(id);
        }
        self.is_custom |= text(piece, "type") == "custom" || piece["custom"].is_object();
        let (key, payload) =
            if self.is_custom { ("custom", "input") } else { ("function", "arguments") };
        self.name.push_str(text(&piece[key], "name"));
        self.payload.push_str(text(&piece[key], payload));
    }

    fn finish(self) -> Item {
        let payload = if self.is_custom {
            CallPayload::Input(self.payload)
        } else {
            arguments(&self.payload)
        };
        Item::Call(Call { call_id: self.id, ..Call::new(self.name, payload) })
    }
}
