//! A client's message that asks for a response.

use std::sync::Arc;

use serde_json::Value;

use crate::provider::UsageForm;
use crate::server::chain;
use crate::wire::{self, ApiError, SocketFrames, Wire};

/// A request that could be read.
pub(super) struct Create<'i> {
    pub(super) request: wire::Request<'i>,
    /// The response that it continues.
    pub(super) previous: Option<&'i str>,
    /// Whether output is wanted.
    pub(super) generate: bool,
    pub(super) frames: SocketFrames<'i>,
    pub(super) stream_id: Option<&'i str>,
}

impl<'i> Create<'i> {
    /// Reads a message.
    ///
    /// # Errors
    /// The answer when it asks for no response.
    pub(super) fn read(sent: &'i Value, usage: UsageForm) -> Result<Self, ApiError> {
        if sent.is_object() && sent.get("type").is_none_or(|kind| !kind.is_string()) {
            return Err(ApiError::bad_request("missing required parameter: 'type'")
                .param("type")
                .code("missing_required_parameter"));
        }
        let request = wire::Request::read(Wire::ResponsesWs, sent)?.with_usage(usage);
        let previous = chain::previous_id(sent)?;
        let stream_id = stream_id(sent)?;
        if sent.get("background") == Some(&Value::Bool(true)) {
            return Err(ApiError::bad_request("'background' is not supported over a WebSocket")
                .param("background")
                .code("unsupported_parameter"));
        }
        let generate = match sent.get("generate") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(generate)) => *generate,
            Some(_) => return Err(wrong_type("generate", "a boolean")),
        };
        let frames = SocketFrames::new(stream_id);
        Ok(Self { request, previous, generate, frames, stream_id })
    }
}

/// The stream that a message names.
pub(super) fn stream_id(sent: &Value) -> Result<Option<&str>, ApiError> {
    match sent.get("stream_id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => Err(wrong_type("stream_id", "a string")),
    }
}

fn wrong_type(param: &'static str, wanted: &str) -> ApiError {
    ApiError::bad_request(format!("invalid type for '{param}': it must be {wanted}"))
        .param(param)
        .code("invalid_type")
}

/// The effective body, unless it holds a result of no call: continuing must fail then.
pub(super) fn without_orphan(effective: Arc<Value>) -> Result<Arc<Value>, ApiError> {
    match chain::orphan(&effective) {
        None => Ok(effective),
        Some(call_id) => {
            let message =
                format!("No tool call found for function call output with call_id {call_id}.");
            Err(ApiError::bad_request(message).param("input"))
        }
    }
}

/// Does with a message what a connection does, and lets it go.
#[cfg(fuzzing)]
pub(crate) fn read_and_drop(message: &Arc<Value>) {
    let Ok(create) = Create::read(message, UsageForm::default()) else { return };
    drop(without_orphan(chain::unchained(message)));
    drop(create.frames.warm_up(&create.request, wire::Ids::WarmUp { connection: 1, count: 1 }));
}
