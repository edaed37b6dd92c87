//! The event sequence of a reply.
//!
//! One block after another: start, its deltas, stop. Between `message_start`, which carries the
//! message without content, and `message_delta`, which says why it ended.

use bytes::Bytes;
use serde::Serialize;

use super::block::{self, Block, BlockView};
use super::message::{Message, stop_reason};
use super::usage::Counts;
use crate::script::Reply;
use crate::wire::pieces::pieces;
use crate::wire::sse::{EventWriter, append_fields};
use crate::wire::{Ids, Request, Wire};

/// The frames of a reply, one an event.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn events(
    request: &Request<'_>,
    reply: &Reply,
    ids: Ids,
) -> serde_json::Result<Vec<Bytes>> {
    let blocks = block::blocks(reply, ids)?;
    let id = ids.response(Wire::Messages);

    let mut writer = EventWriter::with_capacity(8 * 1024);
    let message = Message::started(&id, request.model(), reply.usage);
    write(&mut writer, "message_start", &MessageStart { message })?;
    for (index, block) in blocks.iter().enumerate() {
        let content_block = block.started();
        write(&mut writer, "content_block_start", &BlockStart { index, content_block })?;
        if index == 0 {
            ping(&mut writer)?;
        }
        deltas(&mut writer, index, block)?;
        write(&mut writer, "content_block_stop", &BlockStop { index })?;
    }
    if blocks.is_empty() {
        ping(&mut writer)?;
    }
    let delta = Stop { stop_reason: stop_reason(&blocks), stop_sequence: None };
    let usage = Counts::of(reply.usage);
    write(&mut writer, "message_delta", &MessageDelta { delta, usage })?;
    writer.unnumbered_event("message_stop", |_| Ok(()))?;
    Ok(writer.finish())
}

/// The API pings right after its first block has started.
fn ping(writer: &mut EventWriter) -> serde_json::Result<()> {
    writer.unnumbered_event("ping", |_| Ok(()))
}

fn deltas(writer: &mut EventWriter, index: usize, block: &Block<'_>) -> serde_json::Result<()> {
    let mut delta = |delta| write(writer, "content_block_delta", &BlockDelta { index, delta });
    match block {
        Block::Text(text) => pieces(text).try_for_each(|text| delta(Delta::Text { text })),
        Block::Thinking { thinking, signature } => {
            pieces(thinking).try_for_each(|thinking| delta(Delta::Thinking { thinking }))?;
            delta(Delta::Signature { signature })
        }
        // It came whole with its start.
        Block::RedactedThinking(_) => Ok(()),
        Block::ToolUse { input, .. } => {
            // The API begins with an empty piece.
            delta(Delta::InputJson { partial_json: "" })?;
            pieces(input).try_for_each(|partial_json| delta(Delta::InputJson { partial_json }))
        }
    }
}

fn write(writer: &mut EventWriter, kind: &str, fields: &impl Serialize) -> serde_json::Result<()> {
    writer.unnumbered_event(kind, |buffer| append_fields(buffer, fields))
}

#[derive(Serialize)]
struct MessageStart<'m> {
    message: Message<'m>,
}

#[derive(Serialize)]
struct BlockStart<'b> {
    index: usize,
    content_block: BlockView<'b>,
}

#[derive(Serialize)]
struct BlockDelta<'b> {
    index: usize,
    delta: Delta<'b>,
}

#[derive(Serialize)]
struct BlockStop {
    index: usize,
}

#[derive(Serialize)]
struct MessageDelta {
    delta: Stop,
    usage: Counts,
}

#[derive(Serialize)]
struct Stop {
    stop_reason: &'static str,
    stop_sequence: Option<()>,
}

/// A piece of a block.
#[derive(Serialize)]
#[serde(tag = "type")]
enum Delta<'b> {
    #[serde(rename = "text_delta")]
    Text { text: &'b str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'b str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'b str },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: &'b str },
}
