//! Errors, and the envelopes in which the wires put them.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::Wire;

/// The code of every refusal that means "the script does not fit what the client did".
pub(crate) const SCRIPT_MISMATCH: &str = "conform_script_mismatch";

/// Whose form an error, or an answer beside the model's, has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// `{"error":{message,type,param,code}}`.
    OpenAi,
    /// `{"type":"error","error":{type,message},"request_id"}`.
    Anthropic,
}

impl Envelope {
    /// The form for a path that belongs to no wire: the one of the API that the client names.
    pub(crate) fn asked_for(headers: &HeaderMap) -> Self {
        if headers.contains_key("anthropic-version") { Self::Anthropic } else { Self::OpenAi }
    }
}

impl Wire {
    /// The form of its errors.
    pub(crate) fn envelope(self) -> Envelope {
        match self {
            Self::Responses | Self::Chat => Envelope::OpenAi,
            Self::Messages => Envelope::Anthropic,
        }
    }
}

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

    /// The body, in the form of a wire.
    pub(crate) fn to_json(&self, envelope: Envelope, request_id: &str) -> Bytes {
        let body = match envelope {
            Envelope::OpenAi => self.openai(),
            Envelope::Anthropic => self.anthropic(request_id),
        };
        Bytes::from(body.to_string())
    }

    fn openai(&self) -> Value {
        let Self { message, param, code, .. } = self;
        json!({
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": param,
                "code": code,
            }
        })
    }

    fn anthropic(&self, request_id: &str) -> Value {
        let mut error = json!({"type": self.anthropic_type(), "message": self.message});
        // The other codes are not this API's own.
        if self.code == Some(SCRIPT_MISMATCH) {
            error["details"] = json!({"error_code": SCRIPT_MISMATCH});
        }
        json!({"type": "error", "error": error, "request_id": request_id})
    }

    fn anthropic_type(&self) -> &'static str {
        match self.status.as_u16() {
            404 => "not_found_error",
            408 => "timeout_error",
            413 => "request_too_large",
            500.. => "api_error",
            _ => "invalid_request_error",
        }
    }
}
