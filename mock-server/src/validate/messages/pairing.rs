//! Calls and their results.

use std::collections::HashSet;

use serde_json::Value;

use super::block::{self, Block};
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, text};

fn role(message: &Value) -> &str {
    text(message, "role").unwrap_or_default()
}

fn messages<'s>(subject: &Subject<'s>) -> Vec<&'s Value> {
    subject.list("messages").map(|(_, message)| message).collect()
}

/// The ids of the calls in a message.
fn calls(message: &Value) -> impl Iterator<Item = &str> {
    block::of_message(0, message)
        .filter(|block| block.kind() == "tool_use")
        .filter_map(|block| text(block.value, "id"))
}

/// The results in a message.
fn results(index: usize, message: &Value) -> impl Iterator<Item = (Block<'_>, &str)> {
    block::of_message(index, message)
        .filter(|block| block.kind() == "tool_result")
        .filter_map(|block| Some((block, text(block.value, "tool_use_id")?)))
}

/// How many messages after `index` are the next turn: the service takes user messages in a row as
/// one.
fn next_turn(messages: &[&Value], index: usize) -> usize {
    messages[index + 1..].iter().take_while(|message| role(message) == "user").count()
}

/// A1: every `tool_use` is answered in the very next message.
pub(super) fn unanswered(subject: &Subject<'_>) -> Option<Broken> {
    let messages = messages(subject);
    messages.iter().enumerate().find_map(|(index, message)| {
        let next = &messages[index + 1..index + 1 + next_turn(&messages, index)];
        let is_answered =
            |id: &str| next.iter().any(|next| results(0, next).any(|(_, result)| result == id));
        let open: Vec<_> = calls(message).filter(|id| !is_answered(id)).collect();
        (role(message) == "assistant" && !open.is_empty()).then(|| {
            let ids = open.join(", ");
            Broken::whole(format!(
                "messages.{index}: `tool_use` ids were found without `tool_result` blocks \
                 immediately after: {ids}. Put a result for each into the next message."
            ))
        })
    })
}

/// A2: every `tool_result` answers a `tool_use` of the message before.
pub(super) fn uncalled(subject: &Subject<'_>) -> Option<Broken> {
    let messages = messages(subject);
    messages.iter().enumerate().find_map(|(index, message)| {
        let before = messages[..index].iter().rev().find(|before| role(before) != "user");
        let is_called =
            |id: &str| before.is_some_and(|before| calls(before).any(|call| call == id));
        let (block, id) = results(index, message).find(|(_, id)| !is_called(id))?;
        Some(Broken::whole(format!(
            "{}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. The message before \
             has no such `tool_use`.",
            block.path()
        )))
    })
}

/// A3: the result of a server tool follows its `server_tool_use`.
pub(super) fn server_result(subject: &Subject<'_>) -> Option<Broken> {
    let mut called: HashSet<&str> = HashSet::new();
    for block in block::all(subject) {
        match block.kind() {
            "server_tool_use" | "mcp_tool_use" => called.extend(text(block.value, "id")),
            kind if kind.ends_with("_tool_result") => {
                let Some(id) = text(block.value, "tool_use_id") else { continue };
                if !called.contains(id) {
                    return Some(Broken::whole(format!(
                        "{}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. There is no \
                         `server_tool_use` with it before.",
                        block.path()
                    )));
                }
            }
            _ => {}
        }
    }
    None
}

/// A4: no two `tool_use` blocks have the same id.
pub(super) fn duplicate_call(subject: &Subject<'_>) -> Option<Broken> {
    let mut seen = HashSet::new();
    let ids = block::all(subject)
        .filter(|block| block.kind() == "tool_use")
        .filter_map(|block| text(block.value, "id"));
    let twice = ids.into_iter().find(|id| !seen.insert(*id))?;
    Some(Broken::whole(format!("messages: `tool_use` ids must be unique, and {twice} is not")))
}

/// A5: a `tool_use` has one `tool_result`.
pub(super) fn duplicate_result(subject: &Subject<'_>) -> Option<Broken> {
    let mut seen = HashSet::new();
    let all = subject.list("messages").flat_map(|(index, message)| results(index, message));
    let (block, id) = all.into_iter().find(|(_, id)| !seen.insert(*id))?;
    Some(Broken::whole(format!(
        "{}: there is another `tool_result` for {id}; each `tool_use` has one",
        block.path()
    )))
}

/// A6: in a user message, `tool_result` blocks come before all others.
pub(super) fn result_not_first(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("messages").find_map(|(index, message)| {
        let blocks = block::of_message(index, message);
        let result = blocks
            .skip_while(|block| block.kind() == "tool_result")
            .find(|block| block.kind() == "tool_result")?;
        Some(Broken::whole(format!(
            "{}: `tool_result` blocks must stand before all others, immediately after the \
             `tool_use`",
            result.path()
        )))
    })
}
