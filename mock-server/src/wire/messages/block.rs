//! Content blocks: how a scripted item looks on this wire, at its start and at its end.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::script::{CallPayload, Item, Reply};
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
///
/// # Errors
/// When call arguments cannot be written as JSON.
pub(super) fn blocks(reply: &Reply, ids: Ids) -> serde_json::Result<Vec<Block<'_>>> {
    reply.items.iter().enumerate().map(|(index, item)| Block::new(item, ids, index)).collect()
}

impl<'r> Block<'r> {
    fn new(item: &'r Item, ids: Ids, index: usize) -> serde_json::Result<Self> {
        Ok(match item {
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
                    CallPayload::Arguments(arguments) => serde_json::to_string(arguments)?.into(),
                    CallPayload::RawArguments(text) => text.into(),
                    CallPayload::Input(text) => json!({"input": text}).to_string().into(),
                },
            },
        })
    }

    /// The block as `content_block_start` shows it: nothing in it yet, but for a block that has no
    /// deltas.
    pub(super) fn started(&self) -> BlockView<'_> {
        match self {
            Self::Text(_) => BlockView::Text { text: "" },
            Self::Thinking { .. } => BlockView::Thinking { thinking: "", signature: "" },
            Self::RedactedThinking(data) => BlockView::RedactedThinking { data },
            Self::ToolUse { id, name, .. } => BlockView::ToolUse { id, name, input: json!({}) },
        }
    }

    /// The block as a whole message shows it.
    pub(super) fn finished(&self) -> BlockView<'_> {
        match self {
            Self::Text(text) => BlockView::Text { text },
            Self::Thinking { thinking, signature } => BlockView::Thinking { thinking, signature },
            Self::RedactedThinking(data) => BlockView::RedactedThinking { data },
            Self::ToolUse { id, name, input } => {
                BlockView::ToolUse { id, name, input: input_value(input) }
            }
        }
    }

    /// Whether this is a call.
    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::ToolUse { .. })
    }
}

/// The input as a client would put it together from its pieces: none at all means no arguments.
fn input_value(text: &str) -> Value {
    if text.is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// A block as JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockView<'b> {
    Text { text: &'b str },
    Thinking { thinking: &'b str, signature: &'b str },
    RedactedThinking { data: &'b str },
    ToolUse { id: &'b str, name: &'b str, input: Value },
}
