//! The message object, at the start of a stream and as a whole reply.

use bytes::Bytes;

use super::block::{self, Block};
use super::usage::{write_counts, write_usage};
use crate::script::{Ending, Item, Reply, Usage};
use crate::wire::json::{Object, write_list, write_text};
use crate::wire::{Ids, Request, Wire};

/// The reply as one message object.
pub(in crate::wire) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> Bytes {
    let blocks = block::blocks(reply, ids);
    let id = ids.response(Wire::Messages);
    let mut body = Vec::with_capacity(1024);
    write_head(Object::begin(&mut body), &id, request.model())
        .with("content", |buffer| {
            write_list(buffer, &blocks, |buffer, block| {
                block.write_finished(Object::begin(buffer)).end();
            });
        })
        .text("stop_reason", stop_reason(reply, &blocks))
        .with("stop_sequence", |buffer| write_stop_sequence(buffer, &reply.ending))
        .object("usage", |object| write_searches(write_usage(object, reply.usage), &blocks))
        .end();
    Bytes::from(body)
}

/// Writes a message of which nothing is written yet. One token of output is counted, if there will
/// be any.
pub(super) fn write_started<'b>(
    object: Object<'b>,
    id: &str,
    model: &str,
    usage: Usage,
) -> Object<'b> {
    let usage = Usage { output: usage.output.min(1), reasoning: 0, ..usage };
    write_head(object, id, model)
        .raw("content", "[]")
        .raw("stop_reason", "null")
        .raw("stop_sequence", "null")
        .object("usage", |object| write_usage(object, usage))
}

/// Writes what `message_delta` says at the end of a message.
pub(super) fn write_end<'b>(object: Object<'b>, reply: &Reply, blocks: &[Block<'_>]) -> Object<'b> {
    object
        .object("delta", |delta| {
            delta
                .text("stop_reason", stop_reason(reply, blocks))
                .with("stop_sequence", |buffer| write_stop_sequence(buffer, &reply.ending))
        })
        .object("usage", |object| write_searches(write_counts(object, reply.usage), blocks))
}

fn write_head<'b>(object: Object<'b>, id: &str, model: &str) -> Object<'b> {
    object.text("id", id).text("type", "message").text("role", "assistant").text("model", model)
}

/// Writes how many searches the server made, if it made any.
fn write_searches<'b>(object: Object<'b>, blocks: &[Block<'_>]) -> Object<'b> {
    let searches = blocks.iter().filter(|block| block.is_search()).count() as u64;
    if searches == 0 {
        return object;
    }
    object.object("server_tool_use", |object| {
        object.number("web_search_requests", searches).number("web_fetch_requests", 0_u64)
    })
}

/// Why the model stopped. A reply that fails has no such reason.
fn stop_reason<'r>(reply: &'r Reply, blocks: &[Block<'_>]) -> &'r str {
    match &reply.ending {
        Ending::Complete if blocks.iter().any(Block::is_call) => "tool_use",
        Ending::Complete if reply.items.iter().any(Item::refuses) => "refusal",
        Ending::Complete => "end_turn",
        Ending::Length => "max_tokens",
        Ending::Filtered => "refusal",
        Ending::Reason(reason) => reason,
        Ending::StopSequence(_) => "stop_sequence",
        Ending::Failed(_) | Ending::Error { .. } => "error",
    }
}

fn write_stop_sequence(buffer: &mut Vec<u8>, ending: &Ending) {
    match ending {
        Ending::StopSequence(text) => write_text(buffer, text),
        _ => buffer.extend_from_slice(b"null"),
    }
}
