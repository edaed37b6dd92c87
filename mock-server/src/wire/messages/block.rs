//! Content blocks: how a scripted item looks on this wire, at its start and at its end.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::script::{Call, CallPayload, Item, Part, Reply, SearchResult, WebSearch};
use crate::wire::json::{Object, map_text, write_list, write_text, write_value};
use crate::wire::{Ids, Wire};

/// What stands between two texts of a reasoning item.
const BETWEEN: &str = "\n\n";

/// A content block.
#[derive(Debug)]
pub(super) enum Block<'r> {
    Text {
        text: &'r str,
        citations: &'r [Value],
    },
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
        by_server: bool,
    },
    SearchResults {
        call_id: String,
        results: &'r [SearchResult],
    },
    Raw(&'r Map<String, Value>),
}

/// The blocks of a reply, in order. Items that this wire has no place for were refused before.
pub(super) fn blocks(reply: &Reply, ids: Ids) -> Vec<Block<'_>> {
    let mut blocks = Vec::with_capacity(reply.items.len());
    for (index, item) in reply.items.iter().enumerate() {
        match item {
            Item::Message { text, .. } => blocks.push(Block::Text { text, citations: &[] }),
            Item::Parts { parts, .. } => blocks.extend(parts.iter().map(Block::part)),
            Item::Reasoning { summary, content, encrypted_content } => {
                let opaque = encrypted_content.as_deref();
                blocks.push(Block::thinking(summary, content, opaque, ids, index));
            }
            Item::Call(call) => blocks.push(Block::call(call, ids, index)),
            Item::WebSearch(search) => blocks.extend(Block::search(search, ids, index)),
            Item::Raw(block) => blocks.push(Block::Raw(block)),
            Item::LocalShell(_) | Item::Compaction { .. } => {}
        }
    }
    blocks
}

impl<'r> Block<'r> {
    fn part(part: &'r Part) -> Self {
        match part {
            Part::Text { text, annotations } => Self::Text { text, citations: annotations },
            Part::Refusal(text) => Self::Text { text, citations: &[] },
        }
    }

    fn thinking(
        summary: &'r [String],
        content: &'r [String],
        opaque: Option<&'r str>,
        ids: Ids,
        index: usize,
    ) -> Self {
        match opaque {
            Some(data) if summary.is_empty() && content.is_empty() => Self::RedactedThinking(data),
            _ => Self::Thinking {
                thinking: [summary, content].concat().join(BETWEEN),
                signature: match opaque {
                    Some(signature) => signature.into(),
                    None => ids.item("sig", index).into(),
                },
            },
        }
    }

    fn call(call: &'r Call, ids: Ids, index: usize) -> Self {
        Self::ToolUse {
            id: ids.call(Wire::Messages, call, index),
            name: &call.name,
            input: match &call.payload {
                CallPayload::Arguments(arguments) => map_text(arguments).into(),
                CallPayload::RawArguments(text) => text.into(),
                CallPayload::Input(text) => wrapped("input", text).into(),
            },
            by_server: false,
        }
    }

    /// A search: the server's own call, and what it found.
    fn search(search: &'r WebSearch, ids: Ids, index: usize) -> [Self; 2] {
        let call_id = ids.item("srvtoolu", index);
        let call = Self::ToolUse {
            id: call_id.clone().into(),
            name: "web_search",
            input: wrapped("query", &search.query).into(),
            by_server: true,
        };
        [call, Self::SearchResults { call_id, results: &search.results }]
    }

    /// Writes the block as `content_block_start` shows it: nothing in it yet, but for a block that
    /// has no deltas.
    pub(super) fn write_started<'b>(&self, object: Object<'b>) -> Object<'b> {
        match self {
            Self::Text { .. } => write_text_block(object, ""),
            Self::Thinking { .. } => write_thinking(object, "", ""),
            Self::ToolUse { id, name, by_server, .. } => {
                write_tool_use(object, id, name, *by_server).raw("input", "{}")
            }
            Self::RedactedThinking(_) | Self::SearchResults { .. } | Self::Raw(_) => {
                self.write_finished(object)
            }
        }
    }

    /// Writes the block as a whole message shows it.
    pub(super) fn write_finished<'b>(&self, object: Object<'b>) -> Object<'b> {
        match self {
            Self::Text { text, citations: [] } => write_text_block(object, text),
            Self::Text { text, citations } => write_text_block(object, text)
                .with("citations", |buffer| write_list(buffer, *citations, write_value)),
            Self::Thinking { thinking, signature } => write_thinking(object, thinking, signature),
            Self::RedactedThinking(data) => {
                object.text("type", "redacted_thinking").text("data", data)
            }
            Self::ToolUse { id, name, input, by_server } => {
                write_tool_use(object, id, name, *by_server)
                    .with("input", |buffer| write_input(buffer, input))
            }
            Self::SearchResults { call_id, results } => object
                .text("type", "web_search_tool_result")
                .text("tool_use_id", call_id)
                .with("content", |buffer| write_list(buffer, *results, write_result)),
            Self::Raw(block) => block.iter().fold(object, |object, (key, value)| {
                object.escaped(key, |buffer| write_value(buffer, value))
            }),
        }
    }

    /// Whether this is a call that the client must answer.
    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::ToolUse { by_server: false, .. })
    }

    /// Whether this is a search.
    pub(super) fn is_search(&self) -> bool {
        matches!(self, Self::SearchResults { .. })
    }
}

/// Text as the only argument of a call.
fn wrapped(key: &str, text: &str) -> String {
    let mut buffer = Vec::new();
    Object::begin(&mut buffer).text(key, text).end();
    String::from_utf8_lossy(&buffer).into_owned()
}

fn write_text_block<'b>(object: Object<'b>, text: &str) -> Object<'b> {
    object.text("type", "text").text("text", text)
}

fn write_thinking<'b>(object: Object<'b>, thinking: &str, signature: &str) -> Object<'b> {
    object.text("type", "thinking").text("thinking", thinking).text("signature", signature)
}

fn write_tool_use<'b>(object: Object<'b>, id: &str, name: &str, by_server: bool) -> Object<'b> {
    let kind = if by_server { "server_tool_use" } else { "tool_use" };
    object.text("type", kind).text("id", id).text("name", name)
}

/// Writes a page that was found. Its opaque content is made from its address.
fn write_result(buffer: &mut Vec<u8>, result: &SearchResult) {
    Object::begin(buffer)
        .text("type", "web_search_result")
        .text("url", &result.url)
        .text("title", &result.title)
        .text("encrypted_content", &format!("opaque_{}", result.url))
        .raw("page_age", "null")
        .end();
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
