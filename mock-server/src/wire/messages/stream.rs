//! The event sequence of a reply.
//!
//! One block after another: start, its deltas, stop. Between `message_start`, which carries the
//! message without content, and `message_delta`, which says why it ended; or an `error` event at the
//! end, without that.

use bytes::Bytes;

use super::block::{self, Block};
use super::message;
use crate::script::{Failure, Reply};
use crate::wire::json::write_value;
use crate::wire::pieces::pieces;
use crate::wire::sse::EventWriter;
use crate::wire::{Ids, Request, Wire};

/// The reply as a stream: one frame an event.
pub(in crate::wire) fn stream(request: &Request<'_>, reply: &Reply, ids: Ids) -> Vec<Bytes> {
    let blocks = block::blocks(reply, ids);
    let id = ids.response(Wire::Messages);

    let mut writer = EventWriter::with_capacity(8 * 1024);
    writer.unnumbered_event("message_start", |event| {
        event.object("message", |object| {
            message::write_started(object, &id, request.model(), reply.usage)
        })
    });
    let closed = blocks.len() - usize::from(reply.ending.leaves_unfinished() && !blocks.is_empty());
    for (index, block) in (0_u64..).zip(&blocks) {
        writer.unnumbered_event("content_block_start", |event| {
            event
                .number("index", index)
                .object("content_block", |object| block.write_started(object))
        });
        if index == 0 {
            ping(&mut writer);
        }
        deltas(&mut writer, index, block);
        if index < closed as u64 {
            writer.unnumbered_event("content_block_stop", |event| event.number("index", index));
        }
    }
    if blocks.is_empty() {
        ping(&mut writer);
    }
    if let Some(failure) = reply.ending.failure() {
        error(&mut writer, failure, ids);
        return writer.finish();
    }
    writer.unnumbered_event("message_delta", |event| message::write_end(event, reply, &blocks));
    writer.unnumbered_event("message_stop", |event| event);
    writer.finish()
}

/// The error that breaks the stream off. This wire has no codes.
fn error(writer: &mut EventWriter, failure: &Failure, ids: Ids) {
    let kind = failure.kind.as_deref().unwrap_or("api_error");
    writer.unnumbered_event("error", |event| {
        event
            .object("error", |error| error.text("type", kind).text("message", &failure.message))
            .text("request_id", &ids.request())
    });
}

/// The API pings right after its first block has started.
fn ping(writer: &mut EventWriter) {
    writer.unnumbered_event("ping", |event| event);
}

fn deltas(writer: &mut EventWriter, index: u64, block: &Block<'_>) {
    let mut delta = |kind: &str, key: &str, piece: &str| {
        writer.unnumbered_event("content_block_delta", |event| {
            event
                .number("index", index)
                .object("delta", |delta| delta.text("type", kind).text(key, piece))
        });
    };
    match block {
        Block::Text { text, citations } => {
            pieces(text).for_each(|piece| delta("text_delta", "text", piece));
            for citation in *citations {
                writer.unnumbered_event("content_block_delta", |event| {
                    event.number("index", index).object("delta", |delta| {
                        delta
                            .text("type", "citations_delta")
                            .with("citation", |buffer| write_value(buffer, citation))
                    })
                });
            }
        }
        Block::Thinking { thinking, signature } => {
            pieces(thinking).for_each(|piece| delta("thinking_delta", "thinking", piece));
            delta("signature_delta", "signature", signature);
        }
        // It came whole with its start.
        Block::RedactedThinking(_) | Block::SearchResults { .. } | Block::Raw(_) => {}
        Block::ToolUse { input, .. } => {
            // The API begins with an empty piece.
            let pieces = std::iter::once("").chain(pieces(input));
            pieces.for_each(|piece| delta("input_json_delta", "partial_json", piece));
        }
    }
}
