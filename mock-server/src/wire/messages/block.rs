//! Content blocks: how a scripted item looks on this wire, at its start and at its end.

use std::borrow::Cow;

use serde_json::Value;

use crate::script::{CallPayload, Item, Reply};
use crate::wire::json::{Object, map_text, write_text, write_value};
use crate::wire::{Ids, Wire};

/// What stands between two texts of a summary.
const BETWEEN: &str = "\n\n";

/// A content block.
#[derive(Debug)]
pub(super) enum Block<'r> {
    Text(&'r str),
    Thinking {
        thinking: String,
        signature: Cow<'r, str>,
    },
    RedactedThinking(&'r str),
    /// A call; its input is JSON text, unless the script says otherwise.
    ToolUse {
        id: Cow<'r, str>,
        name: &'r str,
        input: Cow<'r, str>,
    },
}

/// The blocks of a reply, in order.
pub(super) fn blocks(reply: &Reply, ids: Ids) -> Vec<Block<'_>> {
    reply.items.iter().enumerate().map(|(index, item)| Block::new(item, ids, index)).collect()
}

impl<'r> Block<'r> {
    fn new(item: &'r Item, ids: Ids, index: usize) -> Self {
        match item {
            Item::Message { text, .. } => Self::Text(text),
            Item::Reasoning { summary, encrypted_content: Some(data) } if summary.is_empty() => {
                Self::RedactedThinking(data)
            }
            Item::Reasoning { summary, encrypted_content } => Self::Thinking {
                thinking: summary.join(BETWEEN),
                signature: match encrypted_content {
                    Some(signature) => signature.into(),
                    None => ids.item("sig", index).into(),
                },
            },
            Item::Call(call) => Self::ToolUse {
                id: ids.call(Wire::Messages, call, index),
                name: &call.name,
                input: match &call.payload {
                    CallPayload::Arguments(arguments) => map_text(arguments).into(),
                    CallPayload::RawArguments(text) => text.into(),
                    CallPayload::Input(text) => wrapped(text).into(),
                },
            },
        }
    }

    /// Writes the block as `content_block_start` shows it: nothing in it yet, but for a block that
    /// has no deltas.
    pub(super) fn write_started<'b>(&self, object: Object<'b>) -> Object<'b> {
        match self {
            Self::Text(_) => write_text_block(object, ""),
            Self::Thinking { .. } => write_thinking(object, "", ""),
            Self::RedactedThinking(data) => write_redacted(object, data),
            Self::ToolUse { id, name, .. } => write_tool_use(object, id, name).raw("input", "{}"),
        }
    }

    /// Writes the block as a whole message shows it.
    pub(super) fn write_finished<'b>(&self, object: Object<'b>) -> Object<'b> {
        match self {
            Self::Text(text) => write_text_block(object, text),
            Self::Thinking { thinking, signature } => write_thinking(object, thinking, signature),
            Self::RedactedThinking(data) => write_redacted(object, data),
            Self::ToolUse { id, name, input } => {
                write_tool_use(object, id, name).with("input", |buffer| write_input(buffer, input))
            }
        }
    }

    /// Whether this is a call.
    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::ToolUse { .. })
    }
}

/// Free-form input as the arguments of a call.
fn wrapped(input: &str) -> String {
    let mut buffer = Vec::new();
    Object::begin(&mut buffer).text("input", input).end();
    String::from_utf8_lossy(&buffer).into_owned()
}

fn write_text_block<'b>(object: Object<'b>, text: &str) -> Object<'b> {
    object.text("type", "text").text("text", text)
}

fn write_thinking<'b>(object: Object<'b>, thinking: &str, signature: &str) -> Object<'b> {
    object.text("type", "thinking").text("thinking", thinking).text("signature", signature)
}

fn write_redacted<'b>(object: Object<'b>, data: &str) -> Object<'b> {
    object.text("type", "redacted_thinking").text("data", data)
}

fn write_tool_use<'b>(object: Object<'b>, id: &str, name: &str) -> Object<'b> {
    object.text("type", "tool_use").text("id", id).text("name", name)
}

/// Writes the input as a client would put it together from its pieces: none at all means no
/// arguments.
fn write_input(buffer: &mut Vec<u8>, text: &str) {
    match serde_json::from_str::<Value>(text) {
        _ if text.is_empty() => buffer.extend_from_slice(b"{}"),
        Ok(value) => write_value(buffer, &value),
        Err(_) => write_text(buffer, text),
    }
}
