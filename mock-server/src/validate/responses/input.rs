//! The input as a whole.

use serde_json::Value;

use crate::validate::broken::Broken;
use crate::validate::subject::Subject;

/// R27: there is an input, or something that stands for one.
pub(super) fn missing(subject: &Subject<'_>) -> Option<Broken> {
    let is_empty = match subject.field("input") {
        None => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    };
    let instead = ["previous_response_id", "prompt", "conversation"];
    if !is_empty || instead.iter().any(|name| subject.field(name).is_some()) {
        return None;
    }
    Some(Broken::at(
        "input",
        "there is nothing to answer: give 'input', 'previous_response_id', 'prompt' or \
         'conversation'",
    ))
}

/// R31: the input fits into the context window, unless it may be truncated.
pub(super) fn overflow(subject: &Subject<'_>) -> Option<Broken> {
    if subject.text("truncation") == Some("auto") {
        return None;
    }
    let (tokens, window) = subject.overflow()?;
    Some(Broken::at(
        "input",
        format!(
            "Your input exceeds the context window of this model: it has {tokens} tokens, and the \
             window {window}"
        ),
    ))
}
