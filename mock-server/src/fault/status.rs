//! HTTP errors in the place of a reply.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::script::{ErrorBody, StatusFault};
use crate::wire::Envelope;

/// An error as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusAnswer {
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

/// Writes the body of an error.
pub(crate) fn status_answer(
    fault: &StatusFault,
    envelope: Envelope,
    request_id: &str,
) -> StatusAnswer {
    let json = |value: &Value| StatusAnswer {
        content_type: "application/json",
        body: Bytes::from(value.to_string()),
    };
    match &fault.body {
        ErrorBody::Json(value) => json(value),
        ErrorBody::Text(text) => StatusAnswer {
            content_type: "text/plain; charset=utf-8",
            body: Bytes::from(text.clone()),
        },
        ErrorBody::Error { kind, code, message, param } => {
            let usual = Usual::of(fault.code, envelope);
            let kind = kind.as_deref().unwrap_or(usual.kind);
            let message = message.as_deref().unwrap_or(usual.message);
            json(&match envelope {
                Envelope::OpenAi => json!({"error": {
                    "message": message,
                    "type": kind,
                    "param": param,
                    "code": code.as_deref().or(usual.code),
                }}),
                Envelope::Anthropic => {
                    let mut error = json!({"type": kind, "message": message});
                    if let Some(code) = code {
                        error["details"] = json!({"error_code": code});
                    }
                    json!({"type": "error", "error": error, "request_id": request_id})
                }
            })
        }
    }
}

/// What an API says with a status when nothing else is scripted.
struct Usual {
    kind: &'static str,
    code: Option<&'static str>,
    message: &'static str,
}

impl Usual {
    fn of(status: u16, envelope: Envelope) -> Self {
        let message = match status {
            401 => "the API key is not valid",
            403 => "the API key is not allowed to do this",
            404 => "there is no such model",
            408 | 504 => "the request took too long",
            413 => "the request is too large",
            429 => "too many requests; try again later",
            400..500 => "the request is not valid",
            503 | 529 => "the server is overloaded",
            _ => "the server failed",
        };
        match envelope {
            Envelope::OpenAi => {
                let (kind, code) = match status {
                    401 => ("invalid_request_error", Some("invalid_api_key")),
                    404 => ("invalid_request_error", Some("model_not_found")),
                    429 => ("rate_limit_error", Some("rate_limit_exceeded")),
                    503 | 529 => ("server_error", Some("server_is_overloaded")),
                    400..500 => ("invalid_request_error", None),
                    _ => ("server_error", None),
                };
                Self { kind, code, message }
            }
            Envelope::Anthropic => {
                let kind = match status {
                    401 => "authentication_error",
                    402 => "billing_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    408 | 504 => "timeout_error",
                    409 => "conflict_error",
                    413 => "request_too_large",
                    429 => "rate_limit_error",
                    529 => "overloaded_error",
                    400..500 => "invalid_request_error",
                    _ => "api_error",
                };
                Self { kind, code: None, message }
            }
        }
    }
}
