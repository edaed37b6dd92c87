//! The chunks of a reply.
//!
//! The first names the role; then each part in its pieces; then the finish reason; then the usage,
//! if the request asks for it.

use bytes::Bytes;
use serde::Serialize;

use super::completion::{FINGERPRINT, SERVICE_TIER};
use super::message::{self, Part, Payload, ToolCall};
use super::usage::UsageView;
use crate::script::Reply;
use crate::wire::clock::CREATED_AT;
use crate::wire::pieces::pieces;
use crate::wire::sse::EventWriter;
use crate::wire::{Ids, Request, Wire};

/// The frames of a reply, one a chunk.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn chunks(
    request: &Request<'_>,
    reply: &Reply,
    ids: Ids,
) -> serde_json::Result<Vec<Bytes>> {
    let parts = message::parts(reply, ids)?;
    let id = ids.response(Wire::Chat);
    let frame = Frame { id: &id, model: request.model(), usage: request.wants_stream_usage() };

    let mut writer = EventWriter::with_capacity(8 * 1024);
    // A message that is calls alone has no content, not even an empty one.
    let has_content = parts.iter().any(|part| matches!(part, Part::Content(_)));
    let content = has_content.then_some("");
    writer.data(&frame.delta(Delta::Start { role: "assistant", content }))?;
    for part in &parts {
        match part {
            Part::Reasoning(text) => {
                for reasoning_content in pieces(text) {
                    writer.data(&frame.delta(Delta::Reasoning { reasoning_content }))?;
                }
            }
            Part::Content(text) => {
                for content in pieces(text) {
                    writer.data(&frame.delta(Delta::Content { content }))?;
                }
            }
            Part::Call(call) => call_chunks(&mut writer, &frame, call)?,
        }
    }
    writer.data(&frame.end(message::finish_reason(&parts)))?;
    if frame.usage {
        writer.data(&frame.chunk(None, Some(reply.usage.into())))?;
    }
    writer.done();
    Ok(writer.finish())
}

fn call_chunks(
    writer: &mut EventWriter,
    frame: &Frame<'_>,
    call: &ToolCall<'_>,
) -> serde_json::Result<()> {
    let ToolCall { index, id, name, payload } = call;
    let &index = index;
    let mut write = |delta| writer.data(&frame.delta(Delta::Calls { tool_calls: [delta] }));
    match payload {
        Payload::Arguments(text) => {
            let function = Function { name, arguments: "" };
            write(CallDelta::Function { index, id, r#type: "function", function })?;
            pieces(text).try_for_each(|arguments| {
                write(CallDelta::Arguments { index, function: Arguments { arguments } })
            })
        }
        Payload::Input(text) => {
            let custom = Custom { name, input: "" };
            write(CallDelta::Custom { index, id, r#type: "custom", custom })?;
            pieces(text)
                .try_for_each(|input| write(CallDelta::Input { index, custom: Input { input } }))
        }
    }
}

/// What all chunks of a reply share.
struct Frame<'f> {
    id: &'f str,
    model: &'f str,
    /// Whether a chunk says what it has of the usage, which is nothing until the last.
    usage: bool,
}

impl<'f> Frame<'f> {
    fn delta(&self, delta: Delta<'f>) -> Chunk<'f> {
        self.chunk(Some(Choice { index: 0, delta, logprobs: None, finish_reason: None }), None)
    }

    fn end(&self, finish_reason: &'static str) -> Chunk<'f> {
        let finish_reason = Some(finish_reason);
        let delta = Delta::End {};
        self.chunk(Some(Choice { index: 0, delta, logprobs: None, finish_reason }), None)
    }

    fn chunk(&self, choice: Option<Choice<'f>>, usage: Option<UsageView>) -> Chunk<'f> {
        Chunk {
            id: self.id,
            object: "chat.completion.chunk",
            created: CREATED_AT,
            model: self.model,
            service_tier: SERVICE_TIER,
            system_fingerprint: FINGERPRINT,
            choices: choice.into_iter().collect(),
            usage: self.usage.then_some(Reported(usage)),
        }
    }
}

#[derive(Serialize)]
struct Chunk<'c> {
    id: &'c str,
    object: &'static str,
    created: u64,
    model: &'c str,
    service_tier: &'static str,
    system_fingerprint: &'static str,
    choices: Vec<Choice<'c>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Reported>,
}

/// Usage that is null before the end.
#[derive(Serialize)]
#[serde(transparent)]
struct Reported(Option<UsageView>);

#[derive(Serialize)]
struct Choice<'c> {
    index: usize,
    delta: Delta<'c>,
    logprobs: Option<()>,
    finish_reason: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Delta<'c> {
    Start { role: &'static str, content: Option<&'static str> },
    Reasoning { reasoning_content: &'c str },
    Content { content: &'c str },
    Calls { tool_calls: [CallDelta<'c>; 1] },
    End {},
}

#[derive(Serialize)]
#[serde(untagged)]
enum CallDelta<'c> {
    Function { index: usize, id: &'c str, r#type: &'static str, function: Function<'c> },
    Arguments { index: usize, function: Arguments<'c> },
    Custom { index: usize, id: &'c str, r#type: &'static str, custom: Custom<'c> },
    Input { index: usize, custom: Input<'c> },
}

#[derive(Serialize)]
struct Function<'c> {
    name: &'c str,
    arguments: &'c str,
}

#[derive(Serialize)]
struct Arguments<'c> {
    arguments: &'c str,
}

#[derive(Serialize)]
struct Custom<'c> {
    name: &'c str,
    input: &'c str,
}

#[derive(Serialize)]
struct Input<'c> {
    input: &'c str,
}
