//! Output items: how a scripted item looks on this wire, at its start and at its end.

use std::borrow::Cow;

use crate::script::{Call, CallPayload, Ending, Item, Reply};
use crate::wire::json::{Object, map_text, write_list};
use crate::wire::{Ids, Wire};

/// A scripted item with its ids.
#[derive(Debug)]
pub(super) struct Output<'r> {
    pub(super) id: String,
    pub(super) content: Content<'r>,
}

/// What the item holds.
#[derive(Debug)]
pub(super) enum Content<'r> {
    Message { text: &'r str, phase: Option<&'r str> },
    FunctionCall(Called<'r>),
    CustomToolCall(Called<'r>),
    Reasoning { summary: &'r [String], encrypted_content: Option<&'r str> },
}

/// A call's fields; the payload is the arguments or the input, as text.
#[derive(Debug)]
pub(super) struct Called<'r> {
    name: &'r str,
    namespace: Option<&'r str>,
    call_id: Cow<'r, str>,
    pub(super) payload: Cow<'r, str>,
}

/// Whether an item is still being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    InProgress,
    Completed,
    /// The reply ended before the item did.
    Incomplete,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
        }
    }
}

impl<'r> Output<'r> {
    /// All items of a reply, in order.
    pub(super) fn all(reply: &'r Reply, ids: Ids) -> Vec<Self> {
        let items = reply.items.iter().enumerate();
        items.map(|(index, item)| Self::new(item, ids, index)).collect()
    }

    fn new(item: &'r Item, ids: Ids, index: usize) -> Self {
        let content = match item {
            Item::Message { text, phase } => Content::Message { text, phase: phase.as_deref() },
            Item::Reasoning { summary, encrypted_content } => {
                Content::Reasoning { summary, encrypted_content: encrypted_content.as_deref() }
            }
            Item::Call(call) => {
                let called = |payload| Called {
                    name: &call.name,
                    namespace: call.namespace.as_deref(),
                    call_id: ids.call(Wire::Responses, call, index),
                    payload,
                };
                match call {
                    Call { payload: CallPayload::Arguments(arguments), .. } => {
                        Content::FunctionCall(called(map_text(arguments).into()))
                    }
                    Call { payload: CallPayload::RawArguments(text), .. } => {
                        Content::FunctionCall(called(text.into()))
                    }
                    Call { payload: CallPayload::Input(text), .. } => {
                        Content::CustomToolCall(called(text.into()))
                    }
                }
            }
        };
        Self { id: ids.item(content.id_prefix(), index), content }
    }

    /// The item as `output_item.added` shows it: nothing in it yet.
    pub(super) fn started(&self) -> Vec<u8> {
        self.write(Status::InProgress)
    }

    /// The items as `output_item.done` and the response's `output` show them.
    pub(super) fn finished(items: &[Self], ending: Ending) -> Vec<Vec<u8>> {
        let last = items.len().wrapping_sub(1);
        let status = |index| match ending {
            Ending::Length | Ending::Filtered if index == last => Status::Incomplete,
            Ending::Complete | Ending::Length | Ending::Filtered => Status::Completed,
        };
        items.iter().enumerate().map(|(index, item)| item.write(status(index))).collect()
    }

    fn write(&self, status: Status) -> Vec<u8> {
        let mut buffer = Vec::with_capacity(256);
        let done = status != Status::InProgress;
        let object =
            Object::begin(&mut buffer).text("type", self.content.type_name()).text("id", &self.id);
        match &self.content {
            Content::Message { text, phase } => object
                .text("status", status.name())
                .text("role", "assistant")
                .with("content", |buffer| {
                    write_list(buffer, done.then_some(*text), |buffer, text| {
                        text_part(Object::begin(buffer), text).end();
                    });
                })
                .optional_text("phase", *phase),
            Content::FunctionCall(call) => call.write(object, status, "arguments"),
            Content::CustomToolCall(call) => call.write(object, status, "input"),
            Content::Reasoning { summary, encrypted_content } => object
                .with("summary", |buffer| {
                    let summary = if done { *summary } else { &[] };
                    write_list(buffer, summary, |buffer, text| {
                        summary_part(Object::begin(buffer), text).end();
                    });
                })
                .optional_text("encrypted_content", encrypted_content.filter(|_| done)),
        }
        .end();
        buffer
    }
}

impl Content<'_> {
    fn type_name(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::FunctionCall(_) => "function_call",
            Self::CustomToolCall(_) => "custom_tool_call",
            Self::Reasoning { .. } => "reasoning",
        }
    }

    fn id_prefix(&self) -> &'static str {
        match self {
            Self::Message { .. } => "msg",
            Self::FunctionCall(_) => "fc",
            Self::CustomToolCall(_) => "ctc",
            Self::Reasoning { .. } => "rs",
        }
    }
}

impl Called<'_> {
    fn write<'b>(&self, object: Object<'b>, status: Status, payload_key: &str) -> Object<'b> {
        let done = status != Status::InProgress;
        object
            .text("status", status.name())
            .text("name", self.name)
            .optional_text("namespace", self.namespace)
            .text("call_id", &self.call_id)
            .text(payload_key, if done { &self.payload } else { "" })
    }
}

/// A text part of a message.
pub(super) fn text_part<'b>(object: Object<'b>, text: &str) -> Object<'b> {
    object
        .text("type", "output_text")
        .text("text", text)
        .raw("annotations", "[]")
        .raw("logprobs", "[]")
}

/// One text of a reasoning summary.
pub(super) fn summary_part<'b>(object: Object<'b>, text: &str) -> Object<'b> {
    object.text("type", "summary_text").text("text", text)
}
