//! The message object, at the start of a stream and as a whole reply.

use bytes::Bytes;

use super::block::{self, Block};
use super::usage::{write_counts, write_usage};
use crate::script::{Ending, Reply, Usage};
use crate::wire::json::{Object, write_list};
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
        .text("stop_reason", stop_reason(reply.ending, &blocks))
        .raw("stop_sequence", "null")
        .object("usage", |object| write_usage(object, reply.usage))
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
                .text("stop_reason", stop_reason(reply.ending, blocks))
                .raw("stop_sequence", "null")
        })
        .object("usage", |object| write_counts(object, reply.usage))
}

fn write_head<'b>(object: Object<'b>, id: &str, model: &str) -> Object<'b> {
    object.text("id", id).text("type", "message").text("role", "assistant").text("model", model)
}

/// Why the model stopped.
fn stop_reason(ending: Ending, blocks: &[Block<'_>]) -> &'static str {
    match ending {
        Ending::Complete if blocks.iter().any(Block::is_call) => "tool_use",
        Ending::Complete => "end_turn",
        Ending::Length => "max_tokens",
        Ending::Filtered => "refusal",
    }
}
