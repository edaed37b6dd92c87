//! Settings of a request.

use crate::validate::broken::Broken;
use crate::validate::subject::Subject;

/// C5: there is at least one message.
pub(super) fn no_messages(subject: &Subject<'_>) -> Option<Broken> {
    subject
        .list("messages")
        .next()
        .is_none()
        .then(|| Broken::at("messages", "'messages' must be an array with at least one message"))
}

/// C12: a reasoning model gets `max_completion_tokens`, not `max_tokens`.
pub(super) fn old_limit(subject: &Subject<'_>) -> Option<Broken> {
    subject.field("max_tokens")?;
    (subject.facts().reasoning == Some(true)).then(|| {
        Broken::at(
            "max_tokens",
            "Unsupported parameter: 'max_tokens' does not go with this model; use \
             'max_completion_tokens'",
        )
    })
}

/// C13: `stream_options` comes with `stream: true`.
pub(super) fn stream_options(subject: &Subject<'_>) -> Option<Broken> {
    subject.field("stream_options")?;
    (!subject.is_true("stream"))
        .then(|| Broken::at("stream_options", "'stream_options' goes with 'stream: true' alone"))
}

/// C14: `tool_choice` and `parallel_tool_calls` come with tools.
pub(super) fn without_tools(subject: &Subject<'_>) -> Option<Broken> {
    // An empty list is another rule's.
    if subject.field("tools").is_some() || subject.field("functions").is_some() {
        return None;
    }
    let name = ["tool_choice", "parallel_tool_calls"]
        .into_iter()
        .find(|name| subject.field(name).is_some())?;
    Some(Broken::at(name, format!("'{name}' goes with 'tools' alone")))
}

/// C17: the messages fit into the context window.
pub(super) fn overflow(subject: &Subject<'_>) -> Option<Broken> {
    let (tokens, window) = subject.overflow()?;
    Some(Broken::at(
        "messages",
        format!(
            "This model's maximum context length is {window} tokens, and the messages have \
             {tokens}: make them shorter"
        ),
    ))
}
