//! Replies: what is said, calls, usage, headers.

use super::{each, field, item};
use crate::document::{Fields, Node, Problems};
use crate::script::header::header_problem;
use crate::script::model::{Call, CallPayload, Item, Usage};

/// Reads what a turn says: `say`, `call`, `calls` or `items`.
pub(super) fn items(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Vec<Item>> {
    match fields.exactly_one(&["say", "call", "calls", "items"], problems)? {
        ("say", node) => Some(vec![Item::message(problems.text(node, "`say`")?)]),
        ("call", node) => Some(vec![Item::Call(call(node, problems)?)]),
        ("calls", node) => {
            let calls = problems.list(node, "`calls`")?;
            non_empty(node, calls, "`calls` names no call", problems);
            each(calls, |_, node| call(node, problems).map(Item::Call))
        }
        (_, node) => {
            let items = problems.list(node, "`items`")?;
            each(items, |_, node| item::item(node, problems))
        }
    }
}

/// Reads a call.
pub(super) fn call(node: &Node, problems: &mut Problems) -> Option<Call> {
    let mut fields = Fields::of(node, "a call", problems)?;
    let name = fields.required("name", problems).and_then(|node| {
        let name = problems.text(node, "a tool's name")?;
        if name.is_empty() {
            problems.error(node.span, "a tool's name cannot be empty");
        }
        Some(name)
    });
    let payload = payload(&mut fields, problems);
    let namespace = field(fields.optional("namespace"), None, |node| {
        problems.text(node, "`namespace`").map(Some)
    });
    let call_id =
        field(fields.optional("call_id"), None, |node| problems.text(node, "`call_id`").map(Some));
    let offered =
        field(fields.optional("offered"), true, |node| problems.boolean(node, "`offered`"));
    fields.finish(problems);
    Some(Call {
        name: name?,
        namespace: namespace?,
        payload: payload?,
        call_id: call_id?,
        must_be_offered: offered?,
    })
}

fn payload(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CallPayload> {
    match fields.exactly_one(&["arguments", "raw_arguments", "input"], problems)? {
        ("arguments", node) => problems.json_map(node, "`arguments`").map(CallPayload::Arguments),
        ("raw_arguments", node) => {
            problems.text(node, "`raw_arguments`").map(CallPayload::RawArguments)
        }
        (_, node) => problems.text(node, "`input`").map(CallPayload::Input),
    }
}

/// Reads `usage`; a figure that is left out has its default.
pub(super) fn usage(node: Option<&Node>, problems: &mut Problems) -> Option<Usage> {
    let Some(node) = node else { return Some(Usage::default()) };
    let mut fields = Fields::of(node, "`usage`", problems)?;
    let mut figure = |name: &'static str, absent: u64| {
        field(fields.optional(name), absent, |node| problems.count(node, &format!("`{name}`")))
    };
    let default = Usage::default();
    let input = figure("input", default.input);
    let cached = figure("cached", default.cached);
    let output = figure("output", default.output);
    let reasoning = figure("reasoning", default.reasoning);
    fields.finish(problems);
    let usage = Usage { input: input?, cached: cached?, output: output?, reasoning: reasoning? };
    if usage.cached > usage.input {
        let message = format!(
            "{} cached tokens are more than all {} of the input",
            usage.cached, usage.input
        );
        problems.error(node.span, message);
    }
    if usage.reasoning > usage.output {
        let message = format!(
            "{} reasoning tokens are more than all {} of the output",
            usage.reasoning, usage.output
        );
        problems.error(node.span, message);
    }
    Some(usage)
}

/// Reads `headers`: a map from name to value.
pub(super) fn headers(
    node: Option<&Node>,
    problems: &mut Problems,
) -> Option<Vec<(String, String)>> {
    let Some(node) = node else { return Some(Vec::new()) };
    let entries = problems.map(node, "`headers`")?;
    let headers: Vec<_> = entries
        .iter()
        .map(|(key, value)| {
            let text = problems.text(value, "a header's value")?;
            if let Some(reason) = header_problem(&key.name, &text) {
                problems.error(key.span, format!("`{}` cannot be set: {reason}", key.name));
            }
            Some((key.name.clone(), text))
        })
        .collect();
    headers.into_iter().collect()
}

fn non_empty(node: &Node, items: &[Node], message: &str, problems: &mut Problems) {
    if items.is_empty() {
        problems.error(node.span, message);
    }
}
