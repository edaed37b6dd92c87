//! Thinking: what can be asked for, and how its blocks come back.

use serde_json::Value;

use super::block::{self, Block};
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, text};

/// The fewest tokens of a thinking budget.
const LEAST_BUDGET: u64 = 1024;

const KINDS: [&str; 4] = ["adaptive", "enabled", "disabled", "between_tools"];

fn kind<'s>(subject: &Subject<'s>) -> Option<&'s str> {
    text(subject.field("thinking")?, "type")
}

fn is_on(subject: &Subject<'_>) -> bool {
    kind(subject).is_some_and(|kind| kind != "disabled")
}

/// A18: the kind of thinking is one that the model supports.
pub(super) fn unsupported(subject: &Subject<'_>) -> Option<Broken> {
    let kind = kind(subject).filter(|kind| *kind != "disabled")?;
    let is_supported = match subject.facts().thinking {
        Some(supported) => supported.iter().any(|supported| supported == kind),
        None => KINDS.contains(&kind),
    };
    let message = format!("\"thinking.type.{kind}\" is not supported for this model");
    (!is_supported).then(|| Broken::whole(message))
}

/// A19: a thinking budget has at least 1024 tokens and fewer than `max_tokens`.
pub(super) fn budget(subject: &Subject<'_>) -> Option<Broken> {
    if kind(subject) != Some("enabled") {
        return None;
    }
    let budget = subject.field("thinking")?.get("budget_tokens").and_then(Value::as_u64);
    match budget {
        None | Some(..LEAST_BUDGET) => Some(Broken::whole(format!(
            "thinking.enabled.budget_tokens: it must be at least {LEAST_BUDGET}"
        ))),
        Some(budget) => {
            let limit = subject.field("max_tokens").and_then(Value::as_u64)?;
            (budget >= limit).then(|| {
                Broken::whole("thinking.enabled.budget_tokens: it must be less than `max_tokens`")
            })
        }
    }
}

/// A20: thinking goes with no other temperature than 1, no `top_k` and no forced tool.
pub(super) fn with_others(subject: &Subject<'_>) -> Option<Broken> {
    if !is_on(subject) {
        return None;
    }
    if subject.field("temperature").is_some_and(|sent| sent.as_f64() != Some(1.0)) {
        return Some(Broken::whole("temperature: it may only be 1 when thinking is on"));
    }
    if subject.field("top_k").is_some() {
        return Some(Broken::whole("top_k: it cannot be set when thinking is on"));
    }
    let choice = subject.field("tool_choice").and_then(|choice| text(choice, "type"));
    matches!(choice, Some("any" | "tool"))
        .then(|| Broken::whole("tool_choice: a tool cannot be forced when thinking is on"))
}

/// The opaque text of a thinking block.
fn signature<'v>(block: &Block<'v>) -> Option<&'v str> {
    match block.kind() {
        "thinking" => Some(text(block.value, "signature").unwrap_or_default()),
        "redacted_thinking" => Some(text(block.value, "data").unwrap_or_default()),
        _ => None,
    }
}

/// A17: the signature of a thinking block is one that this server gave.
pub(super) fn bad_signature(subject: &Subject<'_>) -> Option<Broken> {
    let is_ours = |signature: &str| {
        subject.memory.signed(signature).is_some() || subject.memory.gave_opaque(signature)
    };
    let block = block::all(subject)
        .find(|block| signature(block).is_some_and(|signature| !is_ours(signature)))?;
    let (path, kind) = (block.path(), block.kind());
    Some(Broken::whole(format!("{path}: Invalid `signature` in `{kind}` block")))
}

/// A16: a thinking block comes back as it was given.
pub(super) fn altered(subject: &Subject<'_>) -> Option<Broken> {
    let is_altered = |block: &Block<'_>| {
        let given = signature(block).and_then(|signature| subject.memory.signed(signature));
        block.kind() == "thinking"
            && given.is_some_and(|given| text(block.value, "thinking") != Some(given))
    };
    let block = block::all(subject).find(is_altered)?;
    Some(Broken::whole(format!(
        "{}: `thinking` or `redacted_thinking` blocks cannot be modified: send them back as they \
         came",
        block.path()
    )))
}

/// A15: with thinking on, the last assistant message with calls begins with a thinking block.
///
/// A reply of this server that had none is replayed without.
pub(super) fn left_out(subject: &Subject<'_>) -> Option<Broken> {
    if !is_on(subject) {
        return None;
    }
    let is_assistant = |message: &Value| text(message, "role") == Some("assistant");
    let (index, message) =
        subject.list("messages").filter(|(_, message)| is_assistant(message)).last()?;
    let call = block::of_message(index, message).find(|block| block.kind() == "tool_use")?;
    let first = block::of_message(index, message).next()?;
    if signature(&first).is_some()
        || subject.memory.reasoned(text(call.value, "id")?) == Some(false)
    {
        return None;
    }
    let (path, kind) = (first.path(), first.kind());
    Some(Broken::whole(format!(
        "{path}.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`: with \
         thinking on, an assistant message with calls begins with its thinking"
    )))
}
