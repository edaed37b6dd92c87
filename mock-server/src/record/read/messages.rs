//! Replies of `Anthropic` Messages.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Event, Read, arguments, error_in, list, optional_text, text, tokens};
use crate::script::{Call, Ending, Item, Usage};

/// Reads a message object.
pub(super) fn whole(message: &Value) -> Result<Read, String> {
    if text(message, "type") == "error" {
        return Err(error_in(message));
    }
    let blocks = list(message, "content").iter().map(|block| {
        let input = match &block["input"] {
            // What is no JSON object was sent as text.
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            value => value.to_string(),
        };
        Block { value: block.clone(), input, has_citations: !list(block, "citations").is_empty() }
    });
    read(blocks, text(message, "stop_reason"), &message["usage"])
}

/// Reads the events of a reply.
pub(super) fn stream(events: &[Event]) -> Result<Read, String> {
    let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
    let mut usage = serde_json::Map::new();
    let mut stop_reason = "";
    for event in events {
        let data = &event.data;
        let index = tokens(data, "index");
        match event.kind() {
            "message_start" => more_usage(&mut usage, &data["message"]["usage"]),
            "content_block_start" => {
                blocks.insert(index, Block::start(&data["content_block"]));
            }
            "content_block_delta" => match blocks.get_mut(&index) {
                Some(block) => block.take(&data["delta"]),
                None => return Err(format!("a piece came before the start of block {index}")),
            },
            "message_delta" => {
                stop_reason = text(&data["delta"], "stop_reason");
                more_usage(&mut usage, &data["usage"]);
            }
            "message_stop" => {
                return read(blocks.into_values(), stop_reason, &Value::Object(usage));
            }
            "error" => return Err(error_in(data)),
            _ => {}
        }
    }
    Err("the stream has no end".to_owned())
}

/// Later figures stand for the earlier ones, which they include.
fn more_usage(usage: &mut serde_json::Map<String, Value>, more: &Value) {
    let figures = more.as_object().into_iter().flatten();
    let known = figures.filter(|(_, figure)| !figure.is_null());
    usage.extend(known.map(|(name, figure)| (name.clone(), figure.clone())));
}

/// A content block as far as it has come.
#[derive(Debug)]
struct Block {
    value: Value,
    /// The input of a call, as text.
    input: String,
    has_citations: bool,
}

impl Block {
    fn start(value: &Value) -> Self {
        Self { value: value.clone(), input: String::new(), has_citations: false }
    }

    fn take(&mut self, delta: &Value) {
        let mut append = |key: &str| {
            let whole = format!("{}{}", text(&self.value, key), text(delta, key));
            self.value[key] = whole.into();
        };
        match text(delta, "type") {
            "text_delta" => append("text"),
            "thinking_delta" => append("thinking"),
            "signature_delta" => append("signature"),
            "input_json_delta" => self.input.push_str(text(delta, "partial_json")),
            "citations_delta" => self.has_citations = true,
            _ => {}
        }
    }

    fn item(&self) -> Option<Item> {
        let block = &self.value;
        match text(block, "type") {
            "text" => Some(Item::message(text(block, "text"))),
            "thinking" => Some(Item::Reasoning {
                summary: vec![text(block, "thinking").to_owned()],
                content: Vec::new(),
                encrypted_content: optional_text(block, "signature"),
            }),
            "redacted_thinking" => Some(Item::Reasoning {
                summary: Vec::new(),
                content: Vec::new(),
                encrypted_content: Some(text(block, "data").to_owned()),
            }),
            "tool_use" => Some(Item::Call(Call {
                call_id: optional_text(block, "id"),
                ..Call::new(text(block, "name"), arguments(&self.input))
            })),
            _ => None,
        }
    }
}

fn read(
    blocks: impl Iterator<Item = Block>,
    stop_reason: &str,
    usage: &Value,
) -> Result<Read, String> {
    let mut read = Read::default();
    read.reply.ending = match stop_reason {
        "end_turn" | "tool_use" => Ending::Complete,
        "max_tokens" | "model_context_window_exceeded" => Ending::Length,
        "refusal" => Ending::Filtered,
        other => return Err(format!("its stop reason is {other:?}")),
    };
    for block in blocks {
        match block.item() {
            Some(item) => read.reply.items.push(item),
            None => {
                read.left_out.push(format!("a block of type {:?}", text(&block.value, "type")));
            }
        }
        if block.has_citations {
            read.left_out.push("the citations of a text".to_owned());
        }
    }
    if usage.is_object() {
        let cached = tokens(usage, "cache_read_input_tokens");
        let written = tokens(usage, "cache_creation_input_tokens");
        read.reply.usage = Usage {
            input: tokens(usage, "input_tokens") + cached + written,
            cached,
            output: tokens(usage, "output_tokens"),
            reasoning: tokens(&usage["output_tokens_details"], "thinking_tokens"),
        };
    }
    Ok(read)
}
