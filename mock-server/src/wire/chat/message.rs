//! The reply as the parts of one assistant message.

use std::borrow::Cow;

use serde_json::Value;

use crate::script::{self, Call, CallPayload, Ending, Item, Reply};
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
    /// Notes on the content.
    Annotations(&'r [Value]),
    /// More of what is said in refusal.
    Refusal(Cow<'r, str>),
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

/// The parts of a reply, in order. Items that this wire has no place for were refused before.
pub(super) fn parts(reply: &Reply, ids: Ids) -> Vec<Part<'_>> {
    let mut parts = Parts { all: Vec::with_capacity(reply.items.len()), ..Parts::default() };
    for (index, item) in reply.items.iter().enumerate() {
        match item {
            Item::Reasoning { summary, content, .. } => {
                summary.iter().chain(content).for_each(|text| parts.reasoning(text));
            }
            Item::Message { text, .. } => parts.content(text),
            Item::Parts { parts: scripted, .. } => {
                for part in scripted {
                    match part {
                        script::Part::Text { text, annotations } => {
                            parts.content(text);
                            if !annotations.is_empty() {
                                parts.all.push(Part::Annotations(annotations));
                            }
                        }
                        script::Part::Refusal(text) => parts.refusal(text),
                    }
                }
            }
            Item::Call(call) => parts.call(call, ids.call(Wire::Chat, call, index)),
            Item::LocalShell(_) | Item::WebSearch(_) | Item::Compaction { .. } | Item::Raw(_) => {}
        }
    }
    parts.all
}

/// The parts so far, and what there is of each kind.
#[derive(Default)]
struct Parts<'r> {
    all: Vec<Part<'r>>,
    has_reasoning: bool,
    has_content: bool,
    has_refusal: bool,
    calls: u64,
}

impl<'r> Parts<'r> {
    fn reasoning(&mut self, text: &'r str) {
        let text = continued(std::mem::replace(&mut self.has_reasoning, true), text);
        self.all.push(Part::Reasoning(text));
    }

    fn content(&mut self, text: &'r str) {
        let text = continued(std::mem::replace(&mut self.has_content, true), text);
        self.all.push(Part::Content(text));
    }

    fn refusal(&mut self, text: &'r str) {
        let text = continued(std::mem::replace(&mut self.has_refusal, true), text);
        self.all.push(Part::Refusal(text));
    }

    fn call(&mut self, call: &'r Call, id: Cow<'r, str>) {
        let (index, name, payload) = (self.calls, call.name.as_str(), payload(call));
        self.all.push(Part::Call(ToolCall { index, id, name, payload }));
        self.calls += 1;
    }
}

/// Why the model stopped. A reply that fails has no such reason.
pub(super) fn finish_reason<'r>(ending: &'r Ending, parts: &[Part<'_>]) -> &'r str {
    let has_call = parts.iter().any(|part| matches!(part, Part::Call(_)));
    match ending {
        Ending::Complete if has_call => "tool_calls",
        Ending::Complete | Ending::StopSequence(_) => "stop",
        Ending::Length => "length",
        Ending::Filtered => "content_filter",
        Ending::Reason(reason) => reason,
        Ending::Failed(_) | Ending::Error { .. } => "error",
    }
}

/// The content so far, if the message has any; an empty text is content too.
pub(super) fn content(parts: &[Part<'_>]) -> Option<String> {
    joined(parts, |part| match part {
        Part::Content(text) => Some(text),
        _ => None,
    })
}

/// The reasoning, if the message has any.
pub(super) fn reasoning(parts: &[Part<'_>]) -> Option<String> {
    joined(parts, |part| match part {
        Part::Reasoning(text) => Some(text),
        _ => None,
    })
}

/// What is said in refusal, if anything is.
pub(super) fn refusal(parts: &[Part<'_>]) -> Option<String> {
    joined(parts, |part| match part {
        Part::Refusal(text) => Some(text),
        _ => None,
    })
}

/// The notes on the content, in order.
pub(super) fn annotations<'p, 'r: 'p>(
    parts: &'p [Part<'r>],
) -> impl Iterator<Item = &'r Value> + 'p {
    let of_part = |part: &'p Part<'r>| -> &'r [Value] {
        match part {
            Part::Annotations(annotations) => annotations,
            _ => &[],
        }
    };
    parts.iter().flat_map(of_part)
}

/// The calls, in order.
pub(super) fn calls<'p, 'r>(parts: &'p [Part<'r>]) -> impl Iterator<Item = &'p ToolCall<'r>> {
    parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
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
