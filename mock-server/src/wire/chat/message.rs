//! The reply as the parts of one assistant message.

use std::borrow::Cow;

use crate::script::{Call, CallPayload, Ending, Item, Reply};
use crate::wire::json::map_text;
use crate::wire::{Ids, Wire};

/// What stands between two texts that were items of their own.
const BETWEEN: &str = "\n\n";

/// A part of the message.
#[derive(Debug)]
pub(super) enum Part<'r> {
    /// More of the reasoning.
    Reasoning(Cow<'r, str>),
    /// More of the content.
    Content(Cow<'r, str>),
    /// One more call.
    Call(ToolCall<'r>),
}

/// A tool call.
#[derive(Debug)]
pub(super) struct ToolCall<'r> {
    /// Its place among the calls.
    pub(super) index: u64,
    pub(super) id: Cow<'r, str>,
    pub(super) name: &'r str,
    pub(super) payload: Payload<'r>,
}

/// What a call carries, as text.
#[derive(Debug)]
pub(super) enum Payload<'r> {
    Arguments(Cow<'r, str>),
    Input(&'r str),
}

impl Payload<'_> {
    /// The call's type, which is also the key of its fields.
    pub(super) fn native_type(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "function",
            Self::Input(_) => "custom",
        }
    }

    /// The key of the payload.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "arguments",
            Self::Input(_) => "input",
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Arguments(text) => text,
            Self::Input(text) => text,
        }
    }
}

/// The parts of a reply, in order.
pub(super) fn parts(reply: &Reply, ids: Ids) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(reply.items.len());
    let (mut reasoning, mut content, mut calls) = (false, false, 0);
    for (index, item) in reply.items.iter().enumerate() {
        match item {
            Item::Reasoning { summary, .. } => {
                for text in summary {
                    let text = continued(std::mem::replace(&mut reasoning, true), text);
                    parts.push(Part::Reasoning(text));
                }
            }
            Item::Message { text, .. } => {
                let text = continued(std::mem::replace(&mut content, true), text);
                parts.push(Part::Content(text));
            }
            Item::Call(call) => {
                let id = ids.call(Wire::Chat, call, index);
                parts.push(Part::Call(ToolCall {
                    index: calls,
                    id,
                    name: &call.name,
                    payload: payload(call),
                }));
                calls += 1;
            }
        }
    }
    parts
}

/// Why the model stopped.
pub(super) fn finish_reason(ending: Ending, parts: &[Part<'_>]) -> &'static str {
    let has_call = parts.iter().any(|part| matches!(part, Part::Call(_)));
    match ending {
        Ending::Complete if has_call => "tool_calls",
        Ending::Complete => "stop",
        Ending::Length => "length",
        Ending::Filtered => "content_filter",
    }
}

/// The content so far, if the message has any; an empty text is content too.
pub(super) fn content(parts: &[Part<'_>]) -> Option<String> {
    joined(parts, |part| match part {
        Part::Content(text) => Some(text),
        Part::Reasoning(_) | Part::Call(_) => None,
    })
}

/// The reasoning, if the message has any.
pub(super) fn reasoning(parts: &[Part<'_>]) -> Option<String> {
    joined(parts, |part| match part {
        Part::Reasoning(text) => Some(text),
        Part::Content(_) | Part::Call(_) => None,
    })
}

/// The calls, in order.
pub(super) fn calls<'p, 'r>(parts: &'p [Part<'r>]) -> impl Iterator<Item = &'p ToolCall<'r>> {
    parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        Part::Reasoning(_) | Part::Content(_) => None,
    })
}

fn continued(has_more_before: bool, text: &str) -> Cow<'_, str> {
    if has_more_before { Cow::Owned(format!("{BETWEEN}{text}")) } else { Cow::Borrowed(text) }
}

fn payload(call: &Call) -> Payload<'_> {
    match &call.payload {
        CallPayload::Arguments(arguments) => Payload::Arguments(map_text(arguments).into()),
        CallPayload::RawArguments(text) => Payload::Arguments(text.into()),
        CallPayload::Input(text) => Payload::Input(text),
    }
}

fn joined<'p, 'r>(
    parts: &'p [Part<'r>],
    text: impl Fn(&'p Part<'r>) -> Option<&'p Cow<'r, str>>,
) -> Option<String> {
    let mut texts = parts.iter().filter_map(text).peekable();
    texts.peek()?;
    Some(texts.map(AsRef::as_ref).collect())
}
