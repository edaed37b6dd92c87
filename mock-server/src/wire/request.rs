//! What the server must understand of a request before it can answer.

use serde_json::{Map, Value};

use super::{ApiError, Wire};
use crate::provider::UsageForm;

/// A request that can be answered.
///
/// Only the fields that decide the form of the answer are checked; everything else is taken as it
/// comes, since a client may be newer than this server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'b> {
    wire: Wire,
    body: &'b Map<String, Value>,
    stream: bool,
    stream_usage: bool,
    usage: UsageForm,
}

impl<'b> Request<'b> {
    /// Reads a body of the given wire.
    ///
    /// # Errors
    /// The answer to a body that is no object, names no model, or has a `stream` or an
    /// `include_usage` that is no truth value.
    pub(crate) fn read(wire: Wire, body: &'b Value) -> Result<Self, ApiError> {
        let Value::Object(body) = body else {
            return Err(ApiError::bad_request("the request body must be a JSON object"));
        };
        match body.get("model") {
            Some(Value::String(model)) if !model.is_empty() => {}
            None | Some(Value::Null | Value::String(_)) => {
                return Err(ApiError::bad_request("missing required parameter: 'model'")
                    .param("model")
                    .code("missing_required_parameter"));
            }
            Some(_) => {
                return Err(ApiError::bad_request("invalid type for 'model': it must be a string")
                    .param("model")
                    .code("invalid_type"));
            }
        }
        let stream = flag(body.get("stream"), "stream")?;
        let include_usage = body.get("stream_options").and_then(|sent| sent.get("include_usage"));
        let stream_usage = match wire {
            Wire::Chat => flag(include_usage, "stream_options.include_usage")?,
            Wire::Responses | Wire::Messages => false,
        };
        Ok(Self { wire, body, stream, stream_usage, usage: UsageForm::default() })
    }

    /// With another form of the usage reported.
    pub(crate) fn with_usage(self, usage: UsageForm) -> Self {
        Self { usage, ..self }
    }

    /// The form of the usage reported.
    pub(super) fn usage(&self) -> UsageForm {
        self.usage
    }

    /// The same request, answered as a stream or as one object whatever it asks for.
    pub(crate) fn answered_as_stream(self, stream: bool) -> Self {
        Self { stream, ..self }
    }

    /// The wire it came over.
    pub(crate) fn wire(&self) -> Wire {
        self.wire
    }

    /// The model asked for.
    pub(super) fn model(&self) -> &'b str {
        self.body.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the answer is a stream of events.
    pub(super) fn wants_stream(&self) -> bool {
        self.stream
    }

    /// Whether a stream ends with a chunk of its own for the usage: Chat Completions alone asks.
    pub(super) fn wants_stream_usage(&self) -> bool {
        self.stream_usage
    }

    /// A setting, unless it is absent or null.
    pub(super) fn setting(&self, name: &str) -> Option<&'b Value> {
        self.body.get(name).filter(|value| !value.is_null())
    }
}

/// A truth value that may be left out.
fn flag(sent: Option<&Value>, name: &'static str) -> Result<bool, ApiError> {
    match sent {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => {
            Err(ApiError::bad_request(format!("invalid type for '{name}': it must be a boolean"))
                .param(name)
                .code("invalid_type"))
        }
    }
}
