//! What the control API refuses, and why.

use http::{HeaderValue, Method, Response, StatusCode, header};
use serde_json::{Value, json};

use super::{AnswerBody, json_answer};
use crate::document::{Diagnostic, Severity, render};
use crate::journal::Missing;
use crate::server::builder::StartError;
use crate::server::request_body::BodyProblem;
use crate::server::session::SessionKey;

/// A refusal.
#[derive(Debug)]
pub(super) struct ControlError {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// The methods that the path takes, where another one was used.
    allow: Option<&'static str>,
    /// What is wrong with a script.
    problems: Vec<Diagnostic>,
}

impl ControlError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), allow: None, problems: Vec::new() }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "the control API asks for its token: `authorization: Bearer TOKEN`, or \
             `x-conform-token: TOKEN`",
        )
    }

    pub(super) fn bad_body(problem: &BodyProblem) -> Self {
        let error = problem.to_error();
        Self::new(error.status, "bad_body", error.message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(super) fn no_session(key: &SessionKey) -> Self {
        Self::not_found(format!(
            "there is no session `{key}`; make it with PUT /__conform/sessions/{key}/script"
        ))
    }

    pub(super) fn no_exchange(key: &SessionKey, number: u64) -> Self {
        Self::not_found(format!("the journal of `{key}` has no exchange {number} yet"))
    }

    pub(super) fn missing(missing: &Missing) -> Self {
        Self::new(StatusCode::GONE, "not_kept", missing.to_string())
    }

    pub(super) fn default_stays() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "default_session",
            "the default session stays as long as the server; load another script or reset it",
        )
    }

    pub(super) fn wrong_method(method: &Method, path: &str, allow: &'static str) -> Self {
        let message = format!("/__conform/{path} does not take {method}; it takes {allow}");
        Self {
            allow: Some(allow),
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
        }
    }

    pub(super) fn bad_script(problems: Vec<Diagnostic>) -> Self {
        let count = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        let errors = if count == 1 { "error" } else { "errors" };
        let message = format!("the script has {count} {errors}; nothing was changed");
        Self { problems, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_script", message) }
    }

    pub(super) fn unsendable(error: &StartError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_script", error.to_string())
    }

    pub(super) fn to_response(&self) -> Response<AnswerBody> {
        let mut error = json!({"code": self.code, "message": self.message});
        if !self.problems.is_empty() {
            error["problems"] = self.problems.iter().map(problem).collect();
        }
        let mut response = json_answer(self.status, &json!({"error": error}));
        let headers = response.headers_mut();
        if let Some(allow) = self.allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A diagnostic: its place as numbers, and the whole as a terminal shows it. Line 0 stands for
/// the document as a whole.
fn problem(diagnostic: &Diagnostic) -> Value {
    json!({
        "severity": match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        "line": diagnostic.place.span.line,
        "column": diagnostic.place.span.column,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "text": render(diagnostic),
    })
}
