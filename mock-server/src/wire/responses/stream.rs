//! The event sequence of a reply.
//!
//! One item after another: added, its inner events, done. Between `response.created` and
//! `response.completed`, `response.incomplete` or `response.failed`, which carry the whole Response
//! object; or an `error` event at the end, which does not.

use bytes::Bytes;

use super::item::{Content, Output};
use super::part::{ContentPart, write_summary};
use super::response::{Echo, Snapshot};
use crate::script::{Ending, ErrorForm, Failure, Reply};
use crate::wire::json::{Object, write_value};
use crate::wire::pieces::pieces;
use crate::wire::sse::EventWriter;
use crate::wire::{Ids, Request, Wire};

/// The reply as a stream: one frame an event.
pub(in crate::wire) fn stream(request: &Request<'_>, reply: &Reply, ids: Ids) -> Vec<Bytes> {
    let echo = Echo::of(request);
    let id = ids.response(Wire::Responses);
    let items = Output::all(reply, ids);
    let finished = Output::finished(&items, &reply.ending);

    let mut writer = EventWriter::with_capacity(8 * 1024 + 3 * echo.len());
    let in_progress = Snapshot::in_progress(&id);
    snapshot(&mut writer, "response.created", &in_progress, &echo);
    snapshot(&mut writer, "response.in_progress", &in_progress, &echo);
    for (index, item) in items.iter().enumerate() {
        let place = Place { id: &item.id, index: index as u64 };
        whole_item(&mut writer, "response.output_item.added", place, &item.started());
        let finished = finished.get(index);
        inner(&mut writer, place, &item.content, finished.is_some());
        if let Some(finished) = finished {
            whole_item(&mut writer, "response.output_item.done", place, finished);
        }
    }
    let last_event = match &reply.ending {
        Ending::Complete | Ending::StopSequence(_) => "response.completed",
        Ending::Length | Ending::Filtered | Ending::Reason(_) => "response.incomplete",
        Ending::Failed(_) => "response.failed",
        Ending::Error { failure, form } => {
            error(&mut writer, failure, *form);
            return writer.finish();
        }
    };
    snapshot(&mut writer, last_event, &Snapshot::finished(&id, &finished, reply), &echo);
    writer.finish()
}

/// The event that breaks a stream off.
fn error(writer: &mut EventWriter, failure: &Failure, form: ErrorForm) {
    let Failure { code, message, kind, .. } = failure;
    let status = match form {
        ErrorForm::Flat => {
            return writer.event("error", |object| {
                object.text("code", code).text("message", message).raw("param", "null")
            });
        }
        ErrorForm::Nested { status } => status,
    };
    let kind = kind.as_deref().unwrap_or("server_error");
    writer.event("error", |object| {
        let object = object.object("error", |error| {
            error
                .text("type", kind)
                .text("code", code)
                .text("message", message)
                .raw("param", "null")
        });
        match status {
            Some(status) => object.number("status", status),
            None => object,
        }
    });
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

/// The events between an item's start and its end; without the closing ones, if it has no end.
fn inner(writer: &mut EventWriter, place: Place<'_>, content: &Content<'_>, closed: bool) {
    match content {
        Content::Message { parts, .. } => content_parts(writer, place, parts, closed),
        Content::FunctionCall(call) => {
            deltas(writer, "response.function_call_arguments.delta", place, &call.payload);
            if closed {
                writer.event("response.function_call_arguments.done", |object| {
                    place.write(object).text("arguments", &call.payload)
                });
            }
        }
        Content::CustomToolCall(call) => {
            deltas(writer, "response.custom_tool_call_input.delta", place, &call.payload);
            if closed {
                writer.event("response.custom_tool_call_input.done", |object| {
                    place.write(object).text("input", &call.payload)
                });
            }
        }
        Content::Reasoning { summary, parts, .. } => {
            for (index, text) in (0_u64..).zip(*summary) {
                let is_last = parts.is_empty() && index + 1 == summary.len() as u64;
                summary_text(writer, place, index, text, closed || !is_last);
            }
            content_parts(writer, place, parts, closed);
        }
        Content::WebSearch(_) => {
            let mut event = |kind: &str| writer.event(kind, |object| place.write(object));
            event("response.web_search_call.in_progress");
            event("response.web_search_call.searching");
            if closed {
                event("response.web_search_call.completed");
            }
        }
        Content::LocalShell { .. } | Content::Compaction(_) | Content::Raw(_) => {}
    }
}

fn content_parts(
    writer: &mut EventWriter,
    place: Place<'_>,
    parts: &[ContentPart<'_>],
    closed: bool,
) {
    for (index, part) in parts.iter().enumerate() {
        content_part(writer, place, index as u64, *part, closed || index + 1 < parts.len());
    }
}

fn content_part(
    writer: &mut EventWriter,
    place: Place<'_>,
    index: u64,
    part: ContentPart<'_>,
    closed: bool,
) {
    let mut event = |kind: &str, fields: &dyn Fn(Object<'_>) -> Object<'_>| {
        writer.event(kind, |object| fields(place.write(object).number("content_index", index)));
    };
    let events = part.events();
    event("response.content_part.added", &|object| {
        object.object("part", |object| part.write_started(object))
    });
    for delta in pieces(part.whole()) {
        event(events.delta, &|object| events.write_text(object, "delta", delta));
    }
    for (index, annotation) in (0_u64..).zip(part.annotations()) {
        event("response.output_text.annotation.added", &|object| {
            object
                .number("annotation_index", index)
                .with("annotation", |buffer| write_value(buffer, annotation))
        });
    }
    if closed {
        event(events.done, &|object| events.write_text(object, events.key, part.whole()));
        event("response.content_part.done", &|object| {
            object.object("part", |object| part.write_finished(object))
        });
    }
}

fn summary_text(writer: &mut EventWriter, place: Place<'_>, index: u64, text: &str, closed: bool) {
    let mut event = |kind: &str, fields: &dyn Fn(Object<'_>) -> Object<'_>| {
        writer.event(kind, |object| fields(place.write(object).number("summary_index", index)));
    };
    event("response.reasoning_summary_part.added", &|object| {
        object.object("part", |part| write_summary(part, ""))
    });
    for delta in pieces(text) {
        event("response.reasoning_summary_text.delta", &|object| object.text("delta", delta));
    }
    if closed {
        event("response.reasoning_summary_text.done", &|object| object.text("text", text));
        event("response.reasoning_summary_part.done", &|object| {
            object.object("part", |part| write_summary(part, text))
        });
    }
}

fn deltas(writer: &mut EventWriter, kind: &str, place: Place<'_>, text: &str) {
    for delta in pieces(text) {
        writer.event(kind, |object| place.write(object).text("delta", delta));
    }
}
