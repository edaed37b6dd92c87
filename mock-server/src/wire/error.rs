//! The error envelope of the `OpenAI` protocols: `{"error":{message,type,param,code}}`.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

/// The code of every refusal that means "the script does not fit what the client did".
pub(crate) const SCRIPT_MISMATCH: &str = "conform_script_mismatch";

/// An answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// HTTP status.
    pub(crate) status: StatusCode,
    /// What is wrong and what to do.
    pub(crate) message: String,
    /// The request field it is about.
    pub(crate) param: Option<&'static str>,
    /// A code that clients may act on.
    pub(crate) code: Option<&'static str>,
}

impl ApiError {
    /// A request that is wrong in itself.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::with_status(StatusCode::BAD_REQUEST, message)
    }

    /// A request that the script has no answer for.
    pub(crate) fn script_mismatch(message: impl Into<String>) -> Self {
        Self { code: Some(SCRIPT_MISMATCH), ..Self::bad_request(message) }
    }

    /// Any other client error.
    pub(crate) fn with_status(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None }
    }

    /// Names the request field.
    pub(crate) fn param(self, param: &'static str) -> Self {
        Self { param: Some(param), ..self }
    }

    /// Names the code.
    pub(crate) fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The body.
    pub(crate) fn to_json(&self) -> Bytes {
        let Self { message, param, code, .. } = self;
        let envelope: Value = json!({
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": param,
                "code": code,
            }
        });
        Bytes::from(envelope.to_string())
    }
}
