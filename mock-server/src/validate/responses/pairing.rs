//! Calls and their outputs, and the chain of responses.

use std::collections::HashSet;

use serde_json::Value;

use super::item::item_type;
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, text};

/// The type of the output that a call of a type waits for.
fn output_type(call_type: &str) -> Option<&'static str> {
    Some(match call_type {
        "function_call" => "function_call_output",
        "custom_tool_call" => "custom_tool_call_output",
        "local_shell_call" => "local_shell_call_output",
        "shell_call" => "shell_call_output",
        "apply_patch_call" => "apply_patch_call_output",
        "computer_call" => "computer_call_output",
        _ => return None,
    })
}

/// A call of the input or an output, by its place.
#[derive(Debug, Clone, Copy)]
struct Paired<'v> {
    index: usize,
    /// The type of the output, for both sides.
    output: &'static str,
    call_id: &'v str,
}

fn calls<'s>(subject: &Subject<'s>) -> Vec<Paired<'s>> {
    let call = |(index, item): (usize, &'s Value)| {
        let output = output_type(item_type(item)?)?;
        Some(Paired { index, output, call_id: text(item, "call_id")? })
    };
    subject.list("input").filter_map(call).collect()
}

fn outputs<'s>(subject: &Subject<'s>) -> Vec<Paired<'s>> {
    let output = |(index, item): (usize, &'s Value)| {
        let output = output_type(item_type(item)?.strip_suffix("_output")?)?;
        // The output of a local shell names the call by its own id.
        let call_id = text(item, "call_id").or_else(|| {
            (output == "local_shell_call_output").then(|| text(item, "id")).flatten()
        })?;
        Some(Paired { index, output, call_id })
    };
    subject.list("input").filter_map(output).collect()
}

/// The ids of all calls in the input of a request.
pub(in crate::validate) fn call_ids(body: &Value) -> Vec<String> {
    let items = body.get("input").and_then(Value::as_array).into_iter().flatten();
    let calls = items.filter(|item| item_type(item).and_then(output_type).is_some());
    calls.filter_map(|item| text(item, "call_id").map(str::to_owned)).collect()
}

/// What a call of the type is called, by the type of its output.
fn call_name(output: &str) -> String {
    output.trim_end_matches("_output").replace('_', " ")
}

/// R29: the previous response is one that this server gave.
pub(super) fn unknown_previous(subject: &Subject<'_>) -> Option<Broken> {
    let previous = subject.text("previous_response_id")?;
    if subject.memory.stored(previous).is_some() {
        return None;
    }
    Some(Broken::at(
        "previous_response_id",
        format!("Previous response with id '{previous}' not found: send the whole input"),
    ))
}

/// R30: the new input answers all calls of the previous response.
pub(super) fn previous_call_unanswered(subject: &Subject<'_>) -> Option<Broken> {
    let previous = subject.memory.stored(subject.text("previous_response_id")?)?;
    let outputs = outputs(subject);
    let open = previous
        .calls
        .iter()
        .find(|call| !outputs.iter().any(|output| output.call_id == call.as_str()))?;
    Some(Broken::at("input", format!("no output answers call {open} of the previous response")))
}

/// R1: every call in the input has an output after it.
pub(super) fn call_unanswered(subject: &Subject<'_>) -> Option<Broken> {
    let outputs = outputs(subject);
    let answers = |call: &Paired<'_>, output: &Paired<'_>| {
        output.index > call.index && output.call_id == call.call_id && output.output == call.output
    };
    let open = calls(subject)
        .into_iter()
        .find(|call| !outputs.iter().any(|output| answers(call, output)))?;
    let name = call_name(open.output);
    Some(Broken::at("input", format!("no tool output is there for {name} {}", open.call_id)))
}

/// R2: every output answers a call of the input or of a previous response.
pub(super) fn output_uncalled(subject: &Subject<'_>) -> Option<Broken> {
    let calls = calls(subject);
    let previous = subject.text("previous_response_id");
    let is_called = |output: &Paired<'_>| {
        calls.iter().any(|call| call.call_id == output.call_id && call.index < output.index)
            || previous.is_some_and(|previous| subject.memory.was_called(previous, output.call_id))
    };
    let stray = outputs(subject).into_iter().find(|output| !is_called(output))?;
    let name = call_name(stray.output);
    Some(Broken::at(
        "input",
        format!("no tool call is there for {name} output with call_id {}", stray.call_id),
    ))
}

/// R3: no two items have the same id.
pub(super) fn duplicate_item(subject: &Subject<'_>) -> Option<Broken> {
    let mut seen = HashSet::new();
    // References may repeat: they are no items of their own.
    let ids = subject
        .list("input")
        .filter(|(_, item)| item_type(item) != Some("item_reference"))
        .filter_map(|(_, item)| text(item, "id"));
    let twice = ids.into_iter().find(|id| !seen.insert(*id))?;
    Some(Broken::at("input", format!("two items have the id {twice}: remove one of them")))
}

/// R4: every call id is called once and answered once.
pub(super) fn duplicate_call(subject: &Subject<'_>) -> Option<Broken> {
    let twice = |side: Vec<Paired<'_>>| {
        let mut seen = HashSet::new();
        side.iter().find(|one| !seen.insert(one.call_id)).map(|one| one.call_id.to_owned())
    };
    if let Some(call) = twice(calls(subject)) {
        return Some(Broken::at("input", format!("two calls have the call_id {call}")));
    }
    let answered = twice(outputs(subject))?;
    Some(Broken::at("input", format!("two outputs answer the call {answered}: send one")))
}
