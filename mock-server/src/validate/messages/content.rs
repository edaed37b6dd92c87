//! Texts that say nothing.

use serde_json::Value;

use super::block::{self, Block};
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, text};

/// A12: every message has content, but for a last one of the assistant, and no text block is empty.
pub(super) fn empty(subject: &Subject<'_>) -> Option<Broken> {
    let count = subject.list("messages").count();
    subject.list("messages").find_map(|(index, message)| {
        let is_optional = index + 1 == count && text(message, "role") == Some("assistant");
        let is_empty = match message.get("content") {
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(blocks)) => blocks.is_empty(),
            _ => true,
        };
        if is_empty && !is_optional {
            return Some(Broken::whole(format!(
                "messages.{index}: every message must have non-empty content, except an optional \
                 last one of the assistant"
            )));
        }
        let is_empty = |block: &Block<'_>| {
            block.kind() == "text" && text(block.value, "text").is_some_and(str::is_empty)
        };
        let block = block::of_message(index, message).find(is_empty)?;
        Some(Broken::whole(format!("{}: text content blocks must be non-empty", block.path())))
    })
}

/// A13: texts are more than white space, and a last assistant text does not end with it.
pub(super) fn white_space(subject: &Subject<'_>) -> Option<Broken> {
    let is_blank = |text: &str| !text.is_empty() && text.trim().is_empty();
    let blank = subject.list("messages").find_map(|(index, message)| {
        if text(message, "content").is_some_and(is_blank) {
            return Some(format!("messages.{index}.content"));
        }
        let has_blank = |block: &Block<'_>| {
            block.kind() == "text" && text(block.value, "text").is_some_and(is_blank)
        };
        block::of_message(index, message).find(has_blank).map(|block| block.path())
    });
    if let Some(path) = blank {
        return Some(Broken::whole(format!("{path}: a text must be more than white space")));
    }
    let (index, last) = subject.list("messages").last()?;
    if text(last, "role") != Some("assistant") {
        return None;
    }
    let ending = text(last, "content").or_else(|| {
        let block = block::of_message(index, last).last()?;
        text(block.value, "text").filter(|_| block.kind() == "text")
    })?;
    ending.ends_with(char::is_whitespace).then(|| {
        Broken::whole(format!(
            "messages.{index}: the text of a last assistant message cannot end with white space"
        ))
    })
}
