//! The whole reply as one object, and what it shares with a chunk.

use bytes::Bytes;

use super::message::{self, Part, ToolCall};
use super::usage::write_usage;
use crate::script::Reply;
use crate::wire::clock::CREATED_AT;
use crate::wire::json::{Object, write_list, write_text, write_value};
use crate::wire::{Ids, Request, Wire};

/// The reply as one completion object.
pub(in crate::wire) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> Bytes {
    let parts = message::parts(reply, ids);
    let id = ids.response(Wire::Chat);
    let mut body = Vec::with_capacity(1024);
    write_head(Object::begin(&mut body), "chat.completion", &id, request.model())
        .with("choices", |buffer| {
            buffer.push(b'[');
            Object::begin(buffer)
                .number("index", 0_u64)
                .object("message", |object| write_message(object, &parts))
                .raw("logprobs", "null")
                .text("finish_reason", message::finish_reason(&reply.ending, &parts))
                .end();
            buffer.push(b']');
        })
        .object("usage", |object| write_usage(object, reply.usage, request.usage()))
        .end();
    Bytes::from(body)
}

/// Writes what a completion and a chunk begin with.
pub(super) fn write_head<'b>(object: Object<'b>, kind: &str, id: &str, model: &str) -> Object<'b> {
    object
        .text("id", id)
        .text("object", kind)
        .number("created", CREATED_AT)
        .text("model", model)
        .text("service_tier", "default")
        .text("system_fingerprint", "fp_conform")
}

fn write_message<'b>(object: Object<'b>, parts: &[Part<'_>]) -> Object<'b> {
    let content = message::content(parts);
    let object = object
        .text("role", "assistant")
        .with("content", |buffer| match &content {
            Some(text) => write_text(buffer, text),
            None => buffer.extend_from_slice(b"null"),
        })
        .optional_text("reasoning_content", message::reasoning(parts).as_deref())
        .with("refusal", |buffer| match message::refusal(parts) {
            Some(text) => write_text(buffer, &text),
            None => buffer.extend_from_slice(b"null"),
        })
        .with("annotations", |buffer| {
            write_list(buffer, message::annotations(parts), write_value);
        });
    let mut calls = message::calls(parts).peekable();
    if calls.peek().is_none() {
        return object;
    }
    object.with("tool_calls", |buffer| write_list(buffer, calls, write_call))
}

fn write_call(buffer: &mut Vec<u8>, call: &ToolCall<'_>) {
    let ToolCall { id, name, payload, .. } = call;
    let native_type = payload.native_type();
    Object::begin(buffer)
        .text("id", id)
        .text("type", native_type)
        .object(native_type, |object| object.text("name", name).text(payload.key(), payload.text()))
        .end();
}
