//! Output items: how a scripted item looks on this wire, at its start and at its end.

use std::borrow::Cow;

use serde::Serialize;

use crate::script::{Call, CallPayload, Item, Reply};
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
    pub(super) name: &'r str,
    pub(super) namespace: Option<&'r str>,
    pub(super) call_id: Cow<'r, str>,
    pub(super) payload: Cow<'r, str>,
}

/// All items of a reply, in order.
///
/// # Errors
/// When call arguments cannot be written as JSON.
pub(super) fn output(reply: &Reply, ids: Ids) -> serde_json::Result<Vec<Output<'_>>> {
    reply.items.iter().enumerate().map(|(index, item)| Output::new(item, ids, index)).collect()
}

impl<'r> Output<'r> {
    fn new(item: &'r Item, ids: Ids, index: usize) -> serde_json::Result<Self> {
        let (prefix, content) = match item {
            Item::Message { text, phase } => {
                ("msg", Content::Message { text, phase: phase.as_deref() })
            }
            Item::Reasoning { summary, encrypted_content } => (
                "rs",
                Content::Reasoning { summary, encrypted_content: encrypted_content.as_deref() },
            ),
            Item::Call(call) => match &call.payload {
                CallPayload::Arguments(arguments) => {
                    let arguments = serde_json::to_string(arguments)?;
                    ("fc", Content::FunctionCall(called(call, ids, index, arguments.into())))
                }
                CallPayload::RawArguments(text) => {
                    ("fc", Content::FunctionCall(called(call, ids, index, text.into())))
                }
                CallPayload::Input(text) => {
                    ("ctc", Content::CustomToolCall(called(call, ids, index, text.into())))
                }
            },
        };
        Ok(Self { id: ids.item(prefix, index), content })
    }

    /// The item as `output_item.added` shows it: nothing in it yet.
    pub(super) fn started(&self) -> ItemView<'_> {
        self.view(Status::InProgress)
    }

    /// The item as `output_item.done` and the response's `output` show it.
    pub(super) fn finished(&self) -> ItemView<'_> {
        self.view(Status::Completed)
    }

    fn view(&self, status: Status) -> ItemView<'_> {
        let id = &self.id;
        let done = matches!(status, Status::Completed);
        match &self.content {
            &Content::Message { text, phase } => ItemView::Message {
                id,
                status,
                role: "assistant",
                content: if done { vec![TextPart::new(text)] } else { Vec::new() },
                phase,
            },
            Content::FunctionCall(call) => ItemView::FunctionCall {
                id,
                status,
                name: call.name,
                namespace: call.namespace,
                call_id: &call.call_id,
                arguments: if done { &call.payload } else { "" },
            },
            Content::CustomToolCall(call) => ItemView::CustomToolCall {
                id,
                status,
                name: call.name,
                namespace: call.namespace,
                call_id: &call.call_id,
                input: if done { &call.payload } else { "" },
            },
            &Content::Reasoning { summary, encrypted_content } => ItemView::Reasoning {
                id,
                summary: if done {
                    summary.iter().map(SummaryPart::new).collect()
                } else {
                    Vec::new()
                },
                encrypted_content: encrypted_content.filter(|_| done),
            },
        }
    }
}

fn called<'r>(call: &'r Call, ids: Ids, index: usize, payload: Cow<'r, str>) -> Called<'r> {
    Called {
        name: &call.name,
        namespace: call.namespace.as_deref(),
        call_id: ids.call(Wire::Responses, call, index),
        payload,
    }
}

/// Whether an item is still being written.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    InProgress,
    Completed,
}

/// An item as JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ItemView<'i> {
    Message {
        id: &'i str,
        status: Status,
        role: &'static str,
        content: Vec<TextPart<'i>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'i str>,
    },
    FunctionCall {
        id: &'i str,
        status: Status,
        name: &'i str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'i str>,
        call_id: &'i str,
        arguments: &'i str,
    },
    CustomToolCall {
        id: &'i str,
        status: Status,
        name: &'i str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'i str>,
        call_id: &'i str,
        input: &'i str,
    },
    Reasoning {
        id: &'i str,
        summary: Vec<SummaryPart<'i>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<&'i str>,
    },
}

/// A text part of a message.
#[derive(Debug, Serialize)]
pub(super) struct TextPart<'i> {
    r#type: &'static str,
    text: &'i str,
    annotations: [(); 0],
    logprobs: [(); 0],
}

impl<'i> TextPart<'i> {
    pub(super) fn new(text: &'i str) -> Self {
        Self { r#type: "output_text", text, annotations: [], logprobs: [] }
    }
}

/// One text of a reasoning summary.
#[derive(Debug, Serialize)]
pub(super) struct SummaryPart<'i> {
    r#type: &'static str,
    text: &'i str,
}

impl<'i> SummaryPart<'i> {
    pub(super) fn new(text: &'i (impl AsRef<str> + ?Sized)) -> Self {
        Self { r#type: "summary_text", text: text.as_ref() }
    }
}
