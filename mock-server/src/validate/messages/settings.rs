//! Settings and headers of a request.

use crate::validate::broken::Broken;
use crate::validate::credential;
use crate::validate::subject::Subject;

/// The top-level keys of the API.
const KEYS: [&str; 28] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "stream",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
    "speed",
    "cache_control",
    "container",
    "inference_geo",
    "diagnostics",
    "context_management",
    "compaction",
    "mcp_servers",
    "fallbacks",
    "thread",
    "betas",
    "anthropic_beta",
];

/// A33: the request carries an API key that the service accepts.
pub(super) fn key(subject: &Subject<'_>) -> Option<Broken> {
    credential::problem(subject.headers, subject.service)?;
    Some(Broken::whole("invalid x-api-key"))
}

/// A32: the header `anthropic-version` is there.
pub(super) fn version(subject: &Subject<'_>) -> Option<Broken> {
    (!subject.headers.contains_key("anthropic-version"))
        .then(|| Broken::whole("anthropic-version: the header is required"))
}

/// A31: the model is one that the service has.
pub(super) fn model_unknown(subject: &Subject<'_>) -> Option<Broken> {
    let model = subject.text("model").filter(|model| !model.is_empty())?;
    (!subject.service.has(model)).then(|| Broken::whole(format!("model: {model}")))
}

/// A27: every top-level key is one of the API.
pub(super) fn unknown_key(subject: &Subject<'_>) -> Option<Broken> {
    let unknown = subject.body.keys().find(|key| !KEYS.contains(&key.as_str()))?;
    Some(Broken::whole(format!("{unknown}: Extra inputs are not permitted")))
}

/// A21: `max_tokens` is there, at least 1 and within the limit of the model.
pub(super) fn max_tokens(subject: &Subject<'_>) -> Option<Broken> {
    let Some(sent) = subject.field("max_tokens") else {
        return Some(Broken::whole("max_tokens: the field is required"));
    };
    let Some(tokens) = sent.as_u64().filter(|tokens| *tokens >= 1) else {
        return Some(Broken::whole("max_tokens: it must be a whole number of at least 1"));
    };
    let limit = subject.facts().max_output?;
    (tokens > limit).then(|| {
        Broken::whole(format!(
            "max_tokens: {tokens} > {limit}, which is the most that this model writes"
        ))
    })
}

/// A28: the prompt fits into the context window.
pub(super) fn overflow(subject: &Subject<'_>) -> Option<Broken> {
    let (tokens, window) = subject.overflow()?;
    // Clients look for this text, and make the conversation shorter then.
    Some(Broken::whole(format!("prompt is too long: {tokens} tokens > {window} maximum")))
}
