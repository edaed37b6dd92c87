//! What the server must understand of a request before it can answer.

use serde_json::{Map, Value};

use crate::wire::ApiError;

/// A request body that can be answered.
///
/// Only the fields that decide the form of the answer are checked; everything else is taken as it
/// comes, since a client may be newer than this server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'b> {
    body: &'b Map<String, Value>,
    stream: bool,
}

impl<'b> Request<'b> {
    /// Reads a body.
    ///
    /// # Errors
    /// The answer to a body that is no object, names no model, or has a `stream` that is no truth
    /// value.
    pub(crate) fn read(body: &'b Value) -> Result<Self, ApiError> {
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
        let stream = match body.get("stream") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(stream)) => *stream,
            Some(_) => {
                return Err(ApiError::bad_request(
                    "invalid type for 'stream': it must be a boolean",
                )
                .param("stream")
                .code("invalid_type"));
            }
        };
        Ok(Self { body, stream })
    }

    /// Whether the answer is a stream of events.
    pub(crate) fn wants_stream(&self) -> bool {
        self.stream
    }

    /// A setting, unless it is absent or null.
    pub(super) fn setting(&self, name: &str) -> Option<&'b Value> {
        self.body.get(name).filter(|value| !value.is_null())
    }
}
