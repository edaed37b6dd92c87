//! The event sequence of a reply.
//!
//! One item after another: added, its inner events, done. Between `response.created` and
//! `response.completed` or `response.incomplete`, which carry the whole Response object.

use bytes::Bytes;

use super::item::{Content, Output, summary_part, text_part};
use super::response::{Echo, Snapshot};
use crate::script::{Ending, Reply};
use crate::wire::json::Object;
use crate::wire::pieces::pieces;
use crate::wire::sse::EventWriter;
use crate::wire::{Ids, Request, Wire};

/// The reply as a stream: one frame an event.
pub(in crate::wire) fn stream(request: &Request<'_>, reply: &Reply, ids: Ids) -> Vec<Bytes> {
    let echo = Echo::of(request);
    let id = ids.response(Wire::Responses);
    let items = Output::all(reply, ids);
    let finished = Output::finished(&items, reply.ending);

    let mut writer = EventWriter::with_capacity(8 * 1024 + 3 * echo.len());
    let in_progress = Snapshot::in_progress(&id);
    snapshot(&mut writer, "response.created", &in_progress, &echo);
    snapshot(&mut writer, "response.in_progress", &in_progress, &echo);
    for (index, (item, finished)) in items.iter().zip(&finished).enumerate() {
        let place = Place { id: &item.id, index: index as u64 };
        whole_item(&mut writer, "response.output_item.added", place, &item.started());
        inner(&mut writer, place, &item.content);
        whole_item(&mut writer, "response.output_item.done", place, finished);
    }
    let last_event = match reply.ending {
        Ending::Complete => "response.completed",
        Ending::Length | Ending::Filtered => "response.incomplete",
    };
    snapshot(&mut writer, last_event, &Snapshot::finished(&id, &finished, reply), &echo);
    writer.finish()
}

/// Which item an event belongs to.
#[derive(Debug, Clone, Copy)]
struct Place<'i> {
    id: &'i str,
    index: u64,
}

impl Place<'_> {
    fn write(self, object: Object<'_>) -> Object<'_> {
        object.text("item_id", self.id).number("output_index", self.index)
    }
}

fn snapshot(writer: &mut EventWriter, kind: &str, snapshot: &Snapshot<'_>, echo: &Echo) {
    writer.event(kind, |object| object.with("response", |buffer| snapshot.write(buffer, echo)));
}

fn whole_item(writer: &mut EventWriter, kind: &str, place: Place<'_>, item: &[u8]) {
    writer.event(kind, |object| object.number("output_index", place.index).raw("item", item));
}

/// The events between an item's start and its end.
fn inner(writer: &mut EventWriter, place: Place<'_>, content: &Content<'_>) {
    match content {
        Content::Message { text, .. } => message(writer, place, text),
        Content::FunctionCall(call) => {
            deltas(writer, "response.function_call_arguments.delta", place, &call.payload);
            writer.event("response.function_call_arguments.done", |object| {
                place.write(object).text("arguments", &call.payload)
            });
        }
        Content::CustomToolCall(call) => {
            deltas(writer, "response.custom_tool_call_input.delta", place, &call.payload);
            writer.event("response.custom_tool_call_input.done", |object| {
                place.write(object).text("input", &call.payload)
            });
        }
        Content::Reasoning { summary, .. } => {
            for (index, text) in (0_u64..).zip(*summary) {
                summary_text(writer, place, index, text);
            }
        }
    }
}

fn message(writer: &mut EventWriter, place: Place<'_>, text: &str) {
    let mut event = |kind: &str, fields: &dyn Fn(Object<'_>) -> Object<'_>| {
        writer.event(kind, |object| fields(place.write(object).number("content_index", 0_u64)));
    };
    event("response.content_part.added", &|object| {
        object.object("part", |part| text_part(part, ""))
    });
    for delta in pieces(text) {
        event("response.output_text.delta", &|object| {
            object.text("delta", delta).raw("logprobs", "[]")
        });
    }
    event("response.output_text.done", &|object| object.text("text", text).raw("logprobs", "[]"));
    event("response.content_part.done", &|object| {
        object.object("part", |part| text_part(part, text))
    });
}

fn summary_text(writer: &mut EventWriter, place: Place<'_>, index: u64, text: &str) {
    let mut event = |kind: &str, fields: &dyn Fn(Object<'_>) -> Object<'_>| {
        writer.event(kind, |object| fields(place.write(object).number("summary_index", index)));
    };
    event("response.reasoning_summary_part.added", &|object| {
        object.object("part", |part| summary_part(part, ""))
    });
    for delta in pieces(text) {
        event("response.reasoning_summary_text.delta", &|object| object.text("delta", delta));
    }
    event("response.reasoning_summary_text.done", &|object| object.text("text", text));
    event("response.reasoning_summary_part.done", &|object| {
        object.object("part", |part| summary_part(part, text))
    });
}

fn deltas(writer: &mut EventWriter, kind: &str, place: Place<'_>, text: &str) {
    for delta in pieces(text) {
        writer.event(kind, |object| place.write(object).text("delta", delta));
    }
}
