//! Calls and their tool messages.

use serde_json::Value;

use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, list, text};

/// The calls of a message.
pub(super) fn calls(message: &Value) -> impl Iterator<Item = &Value> {
    list(message, "tool_calls").map(|(_, call)| call)
}

/// Whether a message calls a tool.
pub(super) fn has_calls(message: &Value) -> bool {
    calls(message).next().is_some()
}

fn call_ids(message: &Value) -> impl Iterator<Item = &str> {
    calls(message).filter_map(|call| text(call, "id"))
}

fn is_tool(message: &Value) -> bool {
    text(message, "role") == Some("tool")
}

fn answered(message: &Value) -> Option<&str> {
    text(message, "tool_call_id").filter(|_| is_tool(message))
}

fn messages<'s>(subject: &Subject<'s>) -> Vec<&'s Value> {
    subject.list("messages").map(|(_, message)| message).collect()
}

/// An assistant message with its calls that no tool message right after it answers.
struct Open<'s> {
    index: usize,
    /// Those that no later message answers either.
    never: Vec<&'s str>,
    /// Those that a later message answers, after something else.
    late: Vec<&'s str>,
}

fn open<'s>(messages: &[&'s Value]) -> Vec<Open<'s>> {
    let open_at = |(index, message): (usize, &&'s Value)| {
        let after = &messages[index + 1..];
        let run = after.iter().take_while(|message| is_tool(message)).count();
        let is_in =
            |side: &[&'s Value], id: &str| side.iter().any(|message| answered(message) == Some(id));
        let missing = call_ids(message).filter(|id| !is_in(&after[..run], id));
        let (late, never) = missing.partition(|id| is_in(&after[run..], id));
        Open { index, never, late }
    };
    messages.iter().enumerate().map(open_at).collect()
}

/// C1: every call of an assistant message is answered by a tool message right after it.
pub(super) fn unanswered(subject: &Subject<'_>) -> Option<Broken> {
    let open = open(&messages(subject)).into_iter().find(|open| !open.never.is_empty())?;
    let ids = open.never.join(", ");
    Some(Broken::at(
        format!("messages.[{}].role", open.index),
        format!(
            "each id in 'tool_calls' must be answered by a tool message right after it; these \
             tool_call_ids did not have response messages: {ids}"
        ),
    ))
}

/// C4: nothing stands between an assistant message with calls and its tool messages.
pub(super) fn interrupted(subject: &Subject<'_>) -> Option<Broken> {
    let open = open(&messages(subject)).into_iter().find(|open| !open.late.is_empty())?;
    let ids = open.late.join(", ");
    Some(Broken::at(
        format!("messages.[{}].role", open.index),
        format!("another message stands between 'tool_calls' and the tool messages for: {ids}"),
    ))
}

/// The message before a run of tool messages.
fn before_run<'s>(messages: &[&'s Value], index: usize) -> Option<&'s Value> {
    messages[..index].iter().rev().find(|message| !is_tool(message)).copied()
}

/// C2: a tool message follows an assistant message with calls.
pub(super) fn uncalled(subject: &Subject<'_>) -> Option<Broken> {
    let messages = messages(subject);
    let index = messages.iter().enumerate().position(|(index, message)| {
        // One that comes late, after something else, is C4's.
        let was_called = |id: &str| {
            messages[..index].iter().any(|message| call_ids(message).any(|call| call == id))
        };
        is_tool(message)
            && !before_run(&messages, index).is_some_and(has_calls)
            && !answered(message).is_some_and(was_called)
    })?;
    Some(Broken::at(
        format!("messages.[{index}].role"),
        "a message with role 'tool' must respond to a message with 'tool_calls' before it",
    ))
}

/// C3: a tool message names a call of that assistant message, each once.
pub(super) fn wrong_id(subject: &Subject<'_>) -> Option<Broken> {
    let messages = messages(subject);
    messages.iter().enumerate().find_map(|(index, message)| {
        if !is_tool(message) {
            return None;
        }
        let param = format!("messages.[{index}].tool_call_id");
        let Some(id) = answered(message) else {
            let message = "missing required parameter: 'tool_call_id'";
            return Some(Broken::at(param, message).code(Some("missing_required_parameter")));
        };
        let caller = before_run(&messages, index).filter(|caller| has_calls(caller))?;
        if !call_ids(caller).any(|call| call == id) {
            let message = format!("'tool_call_id' {id} is none of the calls that it follows");
            return Some(Broken::at(param, message));
        }
        let run = messages[..index].iter().rev().take_while(|message| is_tool(message));
        let mut earlier = run.filter_map(|message| answered(message));
        let is_again = earlier.any(|answered| answered == id);
        is_again.then(|| Broken::at(param, format!("'tool_call_id' {id} is answered twice")))
    })
}

/// P4: an assistant message with calls brings back the reasoning that led to them, as long as no
/// later user message ended the loop.
pub(super) fn reasoning_left_out(subject: &Subject<'_>) -> Option<Broken> {
    let messages = messages(subject);
    let loop_start = messages
        .iter()
        .rposition(|message| text(message, "role") == Some("user"))
        .map_or(0, |user| user + 1);
    let index = messages.iter().enumerate().skip(loop_start).position(|(_, message)| {
        let reasoned = |id: &str| subject.memory.reasoned(id) == Some(true);
        call_ids(message).any(reasoned) && text(message, "reasoning_content").is_none()
    })? + loop_start;
    Some(Broken::at(
        format!("messages[{index}].reasoning_content"),
        "the reasoning_content that came with these calls must be sent back with them",
    ))
}
