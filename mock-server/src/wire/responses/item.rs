//! Output items: how a scripted item looks on this wire, at its start and at its end.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::part::{ContentPart, write_summary};
use crate::script::{Call, CallPayload, Ending, Item, LocalShell, Reply, WebSearch};
use crate::wire::json::{Object, map_text, write_list, write_map, write_text, write_value};
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
    Message { parts: Vec<ContentPart<'r>>, phase: Option<&'r str> },
    FunctionCall(Called<'r>),
    CustomToolCall(Called<'r>),
    LocalShell { call: &'r LocalShell, call_id: Cow<'r, str> },
    WebSearch(&'r WebSearch),
    Reasoning { summary: &'r [String], parts: Vec<ContentPart<'r>>, opaque: Option<&'r str> },
    Compaction(Cow<'r, str>),
    Raw(&'r Map<String, Value>),
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
            Item::Message { text, phase } => {
                Content::Message { parts: vec![ContentPart::text(text)], phase: phase.as_deref() }
            }
            Item::Parts { parts, phase } => Content::Message {
                parts: parts.iter().map(ContentPart::of).collect(),
                phase: phase.as_deref(),
            },
            Item::Reasoning { summary, content, encrypted_content } => Content::Reasoning {
                summary,
                parts: content.iter().map(|text| ContentPart::Reasoning(text)).collect(),
                opaque: encrypted_content.as_deref(),
            },
            Item::LocalShell(call) => Content::LocalShell {
                call,
                call_id: ids.call_id(Wire::Responses, call.call_id.as_deref(), index),
            },
            Item::WebSearch(search) => Content::WebSearch(search),
            Item::Compaction { encrypted_content: Some(opaque) } => {
                Content::Compaction(opaque.into())
            }
            Item::Compaction { encrypted_content: None } => {
                Content::Compaction(ids.item("opaque", index).into())
            }
            Item::Raw(item) => Content::Raw(item),
            Item::Call(call) => Content::call(call, ids, index),
        };
        Self { id: ids.item(content.id_prefix(), index), content }
    }

    /// The item as `output_item.added` shows it: nothing in it yet.
    pub(super) fn started(&self) -> Vec<u8> {
        self.write(Status::InProgress)
    }

    /// The items as `output_item.done` and the response's `output` show them; one that stays
    /// without its end is not among them.
    pub(super) fn finished(items: &[Self], ending: &Ending) -> Vec<Vec<u8>> {
        let last = items.len().wrapping_sub(1);
        let items = match items {
            [closed @ .., _] if ending.leaves_unfinished() => closed,
            all => all,
        };
        let status = |index| {
            let is_cut = ending.cuts_short() && index == last;
            if is_cut { Status::Incomplete } else { Status::Completed }
        };
        items.iter().enumerate().map(|(index, item)| item.write(status(index))).collect()
    }

    fn write(&self, status: Status) -> Vec<u8> {
        let mut buffer = Vec::with_capacity(256);
        let done = status != Status::InProgress;
        if let Content::Raw(item) = &self.content {
            write_map(&mut buffer, item);
            return buffer;
        }
        let object =
            Object::begin(&mut buffer).text("type", self.content.type_name()).text("id", &self.id);
        match &self.content {
            Content::Message { parts, phase } => object
                .text("status", status.name())
                .text("role", "assistant")
                .with("content", |buffer| write_parts(buffer, parts, done))
                .optional_text("phase", *phase),
            Content::FunctionCall(call) => call.write(object, status, "arguments"),
            Content::CustomToolCall(call) => call.write(object, status, "input"),
            Content::LocalShell { call, call_id } => object
                .text("status", status.name())
                .text("call_id", call_id)
                .object("action", |action| write_shell(action, call)),
            Content::WebSearch(search) => object
                .text("status", status.name())
                .object("action", |action| write_search(action, search)),
            Content::Reasoning { summary, parts, opaque } => {
                let object = object.with("summary", |buffer| {
                    write_list(buffer, if done { *summary } else { &[] }, |buffer, text| {
                        write_summary(Object::begin(buffer), text).end();
                    });
                });
                let object = match parts.as_slice() {
                    [] => object,
                    parts => object.with("content", |buffer| write_parts(buffer, parts, done)),
                };
                object.optional_text("encrypted_content", opaque.filter(|_| done))
            }
            Content::Compaction(opaque) => object.text("encrypted_content", opaque),
            // Written above.
            Content::Raw(_) => object,
        }
        .end();
        buffer
    }
}

fn write_parts(buffer: &mut Vec<u8>, parts: &[ContentPart<'_>], done: bool) {
    write_list(buffer, if done { parts } else { &[] }, |buffer, part| {
        part.write_finished(Object::begin(buffer)).end();
    });
}

/// Writes the action of a shell call. The environment is always there.
fn write_shell<'b>(action: Object<'b>, call: &LocalShell) -> Object<'b> {
    let action = action.text("type", "exec").with("command", |buffer| {
        write_list(buffer, &call.command, |buffer, word| write_text(buffer, word));
    });
    let action = if call.more.contains_key("env") { action } else { action.raw("env", "{}") };
    call.more.iter().fold(action, |action, (key, value)| {
        action.escaped(key, |buffer| write_value(buffer, value))
    })
}

/// Writes the action of a search.
fn write_search<'b>(action: Object<'b>, search: &WebSearch) -> Object<'b> {
    action
        .text("type", "search")
        .text("query", &search.query)
        .with("queries", |buffer| {
            write_list(buffer, [&search.query], |buffer, query| write_text(buffer, query));
        })
        .with("sources", |buffer| {
            write_list(buffer, &search.results, |buffer, result| {
                Object::begin(buffer).text("type", "url").text("url", &result.url).end();
            });
        })
}

impl<'r> Content<'r> {
    fn call(call: &'r Call, ids: Ids, index: usize) -> Self {
        let called = |payload| Called {
            name: &call.name,
            namespace: call.namespace.as_deref(),
            call_id: ids.call(Wire::Responses, call, index),
            payload,
        };
        match &call.payload {
            CallPayload::Arguments(arguments) => {
                Self::FunctionCall(called(map_text(arguments).into()))
            }
            CallPayload::RawArguments(text) => Self::FunctionCall(called(text.into())),
            CallPayload::Input(text) => Self::CustomToolCall(called(text.into())),
        }
    }

    /// The native type. A raw item names its own.
    fn type_name(&self) -> &'static str {
        self.names().0
    }

    fn id_prefix(&self) -> &'static str {
        self.names().1
    }

    /// The type and the prefix of its ids.
    fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Message { .. } => ("message", "msg"),
            Self::FunctionCall(_) => ("function_call", "fc"),
            Self::CustomToolCall(_) => ("custom_tool_call", "ctc"),
            Self::LocalShell { .. } => ("local_shell_call", "lsh"),
            Self::WebSearch(_) => ("web_search_call", "ws"),
            Self::Reasoning { .. } => ("reasoning", "rs"),
            Self::Compaction(_) => ("compaction", "cmp"),
            Self::Raw(_) => ("", "item"),
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
