//! The chunks of a reply.
//!
//! The first names the role; then each part in its pieces; then the finish reason; then the usage,
//! if the request asks for it. A reply that fails ends with an error instead.

use bytes::Bytes;

use super::completion::write_head;
use super::message::{self, Part, ToolCall};
use super::usage::write_usage;
use crate::provider::UsageForm;
use crate::script::{Failure, Reply, Usage};
use crate::wire::json::{Object, write_list, write_value};
use crate::wire::pieces::pieces;
use crate::wire::sse::EventWriter;
use crate::wire::{Ids, Request, Wire};

/// The reply as a stream: one frame a chunk, and one for its end.
pub(in crate::wire) fn stream(request: &Request<'_>, reply: &Reply, ids: Ids) -> Vec<Bytes> {
    let parts = message::parts(reply, ids);
    let mut chunks = Chunks {
        writer: EventWriter::with_capacity(8 * 1024),
        id: &ids.response(Wire::Chat),
        model: request.model(),
        has_usage: request.wants_stream_usage(),
    };
    // A message that is calls alone has no content, not even an empty one.
    let has_content = parts.iter().any(|part| matches!(part, Part::Content(_)));
    let content = if has_content { "\"\"" } else { "null" };
    chunks.delta(|delta| delta.text("role", "assistant").raw("content", content));
    for part in &parts {
        match part {
            Part::Reasoning(text) => chunks.texts("reasoning_content", text),
            Part::Content(text) => chunks.texts("content", text),
            Part::Refusal(text) => chunks.texts("refusal", text),
            Part::Annotations(annotations) => chunks.delta(|delta| {
                delta.with("annotations", |buffer| {
                    write_list(buffer, *annotations, write_value);
                })
            }),
            Part::Call(call) => chunks.call(call),
        }
    }
    if let Some(failure) = reply.ending.failure() {
        chunks.error(failure);
        return chunks.writer.finish();
    }
    chunks.end(message::finish_reason(&reply.ending, &parts));
    if chunks.has_usage {
        chunks.usage(reply.usage, request.usage());
    }
    chunks.writer.done();
    chunks.writer.finish()
}

/// The chunks written so far, and what all of them share.
struct Chunks<'c> {
    writer: EventWriter,
    id: &'c str,
    model: &'c str,
    /// Whether each chunk says what it has of the usage, which is nothing before the last.
    has_usage: bool,
}

impl Chunks<'_> {
    fn texts(&mut self, key: &str, text: &str) {
        for piece in pieces(text) {
            self.delta(|delta| delta.text(key, piece));
        }
    }

    /// A call: its id and name first, then its payload.
    fn call(&mut self, call: &ToolCall<'_>) {
        let ToolCall { index, id, name, payload } = call;
        let (native_type, key) = (payload.native_type(), payload.key());
        self.call_delta(*index, |delta| {
            delta
                .text("id", id)
                .text("type", native_type)
                .object(native_type, |object| object.text("name", name).text(key, ""))
        });
        for piece in pieces(payload.text()) {
            self.call_delta(*index, |delta| {
                delta.object(native_type, |object| object.text(key, piece))
            });
        }
    }

    fn call_delta(&mut self, index: u64, fields: impl FnOnce(Object<'_>) -> Object<'_>) {
        self.delta(|delta| {
            delta.with("tool_calls", |buffer| {
                buffer.push(b'[');
                fields(Object::begin(buffer).number("index", index)).end();
                buffer.push(b']');
            })
        });
    }

    fn delta(&mut self, fields: impl FnOnce(Object<'_>) -> Object<'_>) {
        self.choice(fields, None);
    }

    fn end(&mut self, finish_reason: &str) {
        self.choice(|delta| delta, Some(finish_reason));
    }

    fn choice(
        &mut self,
        delta: impl FnOnce(Object<'_>) -> Object<'_>,
        finish_reason: Option<&str>,
    ) {
        let has_usage = self.has_usage;
        self.chunk(|chunk| {
            let chunk = chunk.with("choices", |buffer| {
                buffer.push(b'[');
                let choice = Object::begin(buffer)
                    .number("index", 0_u64)
                    .object("delta", delta)
                    .raw("logprobs", "null");
                match finish_reason {
                    Some(reason) => choice.text("finish_reason", reason),
                    None => choice.raw("finish_reason", "null"),
                }
                .end();
                buffer.push(b']');
            });
            if has_usage { chunk.raw("usage", "null") } else { chunk }
        });
    }

    /// The error that breaks the stream off: no end and no terminator follow it.
    fn error(&mut self, failure: &Failure) {
        let Failure { code, message, kind, .. } = failure;
        let kind = kind.as_deref().unwrap_or("server_error");
        self.writer.data(|object| {
            object.object("error", |error| {
                error
                    .text("message", message)
                    .text("type", kind)
                    .raw("param", "null")
                    .text("code", code)
            })
        });
    }

    fn usage(&mut self, usage: Usage, form: UsageForm) {
        self.chunk(|chunk| {
            chunk.raw("choices", "[]").object("usage", |object| write_usage(object, usage, form))
        });
    }

    fn chunk(&mut self, fields: impl FnOnce(Object<'_>) -> Object<'_>) {
        let (id, model) = (self.id, self.model);
        self.writer.data(|object| fields(write_head(object, "chat.completion.chunk", id, model)));
    }
}
