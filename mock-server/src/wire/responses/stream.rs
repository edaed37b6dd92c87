//! The event sequence of a reply.
//!
//! One item after another: added, its inner events, done. Between `response.created` and
//! `response.completed`, which carry the whole Response object.

use bytes::Bytes;
use serde::Serialize;

use super::item::{self, Content, ItemView, Output, SummaryPart, TextPart};
use super::response::{self, Snapshot};
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
    let echo = response::echo(request)?;
    let id = ids.response(Wire::Responses);
    let items = item::output(reply, ids)?;

    let mut writer = EventWriter::with_capacity(8 * 1024 + 3 * echo.len());
    let in_progress = Snapshot::in_progress(&id);
    snapshot(&mut writer, "response.created", &in_progress, &echo)?;
    snapshot(&mut writer, "response.in_progress", &in_progress, &echo)?;
    for (output_index, item) in items.iter().enumerate() {
        item_events(&mut writer, output_index, item)?;
    }
    let output: Vec<_> = items.iter().map(Output::finished).collect();
    snapshot(
        &mut writer,
        "response.completed",
        &Snapshot::completed(&id, &output, reply.usage),
        &echo,
    )?;
    Ok(writer.finish())
}

fn snapshot(
    writer: &mut EventWriter,
    kind: &str,
    snapshot: &Snapshot<'_>,
    echo: &[u8],
) -> serde_json::Result<()> {
    writer.event(kind, |buffer| {
        buffer.extend_from_slice(b",\"response\":");
        response::write_snapshot(buffer, snapshot, echo)
    })
}

fn item_events(
    writer: &mut EventWriter,
    output_index: usize,
    output: &Output<'_>,
) -> serde_json::Result<()> {
    let whole = |item| WholeItem { output_index, item };
    write(writer, "response.output_item.added", &whole(output.started()))?;
    let item_id = output.id.as_str();
    let place = Place { item_id, output_index };
    match &output.content {
        Content::Message { text, .. } => message(writer, place, text)?,
        Content::FunctionCall(call) => {
            deltas(writer, "response.function_call_arguments.delta", place, &call.payload)?;
            let arguments = &call.payload;
            write(
                writer,
                "response.function_call_arguments.done",
                &FunctionCallDone { item_id, output_index, arguments },
            )?;
        }
        Content::CustomToolCall(call) => {
            deltas(writer, "response.custom_tool_call_input.delta", place, &call.payload)?;
            let input = &call.payload;
            write(
                writer,
                "response.custom_tool_call_input.done",
                &CustomCallDone { item_id, output_index, input },
            )?;
        }
        Content::Reasoning { summary, .. } => {
            for (summary_index, text) in summary.iter().enumerate() {
                summary_part(writer, place, summary_index, text)?;
            }
        }
    }
    write(writer, "response.output_item.done", &whole(output.finished()))
}

fn message(writer: &mut EventWriter, place: Place<'_>, text: &str) -> serde_json::Result<()> {
    let Place { item_id, output_index } = place;
    let content_index = 0;
    let part = |part| ContentPart { item_id, output_index, content_index, part };
    let logprobs = [];
    write(writer, "response.content_part.added", &part(TextPart::new("")))?;
    for delta in pieces(text) {
        let event = TextDelta { item_id, output_index, content_index, delta, logprobs };
        write(writer, "response.output_text.delta", &event)?;
    }
    let event = TextDone { item_id, output_index, content_index, text, logprobs };
    write(writer, "response.output_text.done", &event)?;
    write(writer, "response.content_part.done", &part(TextPart::new(text)))
}

fn summary_part(
    writer: &mut EventWriter,
    place: Place<'_>,
    summary_index: usize,
    text: &str,
) -> serde_json::Result<()> {
    let Place { item_id, output_index } = place;
    let part = |part| ReasoningPart { item_id, output_index, summary_index, part };
    write(writer, "response.reasoning_summary_part.added", &part(SummaryPart::new("")))?;
    for delta in pieces(text) {
        let event = SummaryDelta { item_id, output_index, summary_index, delta };
        write(writer, "response.reasoning_summary_text.delta", &event)?;
    }
    let event = SummaryDone { item_id, output_index, summary_index, text };
    write(writer, "response.reasoning_summary_text.done", &event)?;
    write(writer, "response.reasoning_summary_part.done", &part(SummaryPart::new(text)))
}

fn deltas(
    writer: &mut EventWriter,
    kind: &str,
    Place { item_id, output_index }: Place<'_>,
    text: &str,
) -> serde_json::Result<()> {
    pieces(text)
        .try_for_each(|delta| write(writer, kind, &CallDelta { item_id, output_index, delta }))
}

fn write(writer: &mut EventWriter, kind: &str, fields: &impl Serialize) -> serde_json::Result<()> {
    writer.event(kind, |buffer| append_fields(buffer, fields))
}

/// Which item an inner event belongs to.
#[derive(Debug, Clone, Copy)]
struct Place<'i> {
    item_id: &'i str,
    output_index: usize,
}

#[derive(Serialize)]
struct WholeItem<'i> {
    output_index: usize,
    item: ItemView<'i>,
}

#[derive(Serialize)]
struct ContentPart<'i> {
    item_id: &'i str,
    output_index: usize,
    content_index: usize,
    part: TextPart<'i>,
}

#[derive(Serialize)]
struct TextDelta<'i> {
    item_id: &'i str,
    output_index: usize,
    content_index: usize,
    delta: &'i str,
    logprobs: [(); 0],
}

#[derive(Serialize)]
struct TextDone<'i> {
    item_id: &'i str,
    output_index: usize,
    content_index: usize,
    text: &'i str,
    logprobs: [(); 0],
}

#[derive(Serialize)]
struct ReasoningPart<'i> {
    item_id: &'i str,
    output_index: usize,
    summary_index: usize,
    part: SummaryPart<'i>,
}

#[derive(Serialize)]
struct SummaryDelta<'i> {
    item_id: &'i str,
    output_index: usize,
    summary_index: usize,
    delta: &'i str,
}

#[derive(Serialize)]
struct SummaryDone<'i> {
    item_id: &'i str,
    output_index: usize,
    summary_index: usize,
    text: &'i str,
}

#[derive(Serialize)]
struct CallDelta<'i> {
    item_id: &'i str,
    output_index: usize,
    delta: &'i str,
}

#[derive(Serialize)]
struct FunctionCallDone<'i> {
    item_id: &'i str,
    output_index: usize,
    arguments: &'i str,
}

#[derive(Serialize)]
struct CustomCallDone<'i> {
    item_id: &'i str,
    output_index: usize,
    input: &'i str,
}
