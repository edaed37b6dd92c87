//! Content parts: how they look in an item, and the events that build them.

use serde_json::Value;

use crate::script::Part;
use crate::wire::json::{Object, write_list, write_value};

/// A part of a message's or of a reasoning item's content.
#[derive(Debug, Clone, Copy)]
pub(super) enum ContentPart<'r> {
    Text { text: &'r str, annotations: &'r [Value] },
    Refusal(&'r str),
    Reasoning(&'r str),
}

/// The events of a kind of part, and the keys in which they have the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartEvents {
    pub(super) delta: &'static str,
    pub(super) done: &'static str,
    /// The key of the whole text.
    pub(super) key: &'static str,
    /// Whether they have log probabilities.
    pub(super) has_logprobs: bool,
}

impl PartEvents {
    /// Writes the text of an event.
    pub(super) fn write_text<'b>(self, object: Object<'b>, key: &str, text: &str) -> Object<'b> {
        let object = object.text(key, text);
        if self.has_logprobs { object.raw("logprobs", "[]") } else { object }
    }
}

impl<'r> ContentPart<'r> {
    /// Text without notes on it.
    pub(super) fn text(text: &'r str) -> Self {
        Self::Text { text, annotations: &[] }
    }

    /// A scripted part.
    pub(super) fn of(part: &'r Part) -> Self {
        match part {
            Part::Text { text, annotations } => Self::Text { text, annotations },
            Part::Refusal(text) => Self::Refusal(text),
        }
    }

    /// Its text.
    pub(super) fn whole(self) -> &'r str {
        match self {
            Self::Text { text, .. } | Self::Refusal(text) | Self::Reasoning(text) => text,
        }
    }

    /// The notes on it.
    pub(super) fn annotations(self) -> &'r [Value] {
        match self {
            Self::Text { annotations, .. } => annotations,
            Self::Refusal(_) | Self::Reasoning(_) => &[],
        }
    }

    /// Its events.
    pub(super) fn events(self) -> PartEvents {
        match self {
            Self::Text { .. } => PartEvents {
                delta: "response.output_text.delta",
                done: "response.output_text.done",
                key: "text",
                has_logprobs: true,
            },
            Self::Refusal(_) => PartEvents {
                delta: "response.refusal.delta",
                done: "response.refusal.done",
                key: "refusal",
                has_logprobs: false,
            },
            Self::Reasoning(_) => PartEvents {
                delta: "response.reasoning_text.delta",
                done: "response.reasoning_text.done",
                key: "text",
                has_logprobs: false,
            },
        }
    }

    /// Writes the part with nothing in it yet.
    pub(super) fn write_started(self, object: Object<'_>) -> Object<'_> {
        self.write(object, "", &[])
    }

    /// Writes the whole part.
    pub(super) fn write_finished(self, object: Object<'_>) -> Object<'_> {
        self.write(object, self.whole(), self.annotations())
    }

    fn write<'b>(self, object: Object<'b>, text: &str, annotations: &[Value]) -> Object<'b> {
        match self {
            Self::Text { .. } => object
                .text("type", "output_text")
                .text("text", text)
                .with("annotations", |buffer| write_list(buffer, annotations, write_value))
                .raw("logprobs", "[]"),
            Self::Refusal(_) => object.text("type", "refusal").text("refusal", text),
            Self::Reasoning(_) => object.text("type", "reasoning_text").text("text", text),
        }
    }
}

/// Writes one text of a reasoning summary.
pub(super) fn write_summary<'b>(object: Object<'b>, text: &str) -> Object<'b> {
    object.text("type", "summary_text").text("text", text)
}
