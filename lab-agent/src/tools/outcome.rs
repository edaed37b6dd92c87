//! Outcomes: the result of a call, as typed data and as the text that the model reads.

use std::fmt;

use serde::Serialize;

/// Most bytes of one result; what is left out is said in the result.
pub(super) const OUTPUT_CAP: usize = 64 * 1024;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Error,
    Denied,
    Timeout,
    Interrupted,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
        })
    }
}

/// The result of one call: a status, its reason, and the data that the tool gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    reason: String,
    body: String,
}

impl Outcome {
    pub(crate) fn ok(body: impl Into<String>) -> Self {
        Self { status: Status::Ok, reason: String::new(), body: body.into() }
    }

    pub(crate) fn error(reason: impl Into<String>) -> Self {
        Self { status: Status::Error, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn denied(reason: impl Into<String>) -> Self {
        Self { status: Status::Denied, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn timeout(reason: impl Into<String>) -> Self {
        Self { status: Status::Timeout, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn interrupted(reason: impl Into<String>) -> Self {
        Self { status: Status::Interrupted, reason: reason.into(), body: String::new() }
    }

    pub(crate) fn with_body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    /// The result as the model reads it: a status line that data cannot forge, then the data.
    pub(crate) fn text(&self) -> String {
        let mut text = self.status.to_string();
        if self.status != Status::Ok {
            text.push_str(": ");
            text.push_str(&self.reason.replace('\n', "\\n"));
        }
        if !self.body.is_empty() {
            text.push('\n');
            text.push_str(&self.body);
        }
        text
    }

    /// The result without its status: what `result-without-status` sends.
    pub(crate) fn text_without_status(&self) -> String {
        if self.body.is_empty() { "ok".to_owned() } else { format!("ok\n{}", self.body) }
    }
}

/// Bytes as text for a result: at most [`OUTPUT_CAP`] of them, with a note on what is left out.
pub(super) fn capped(bytes: &[u8], total: usize) -> String {
    let kept = &bytes[..bytes.len().min(OUTPUT_CAP)];
    let text = String::from_utf8_lossy(kept);
    if total > kept.len() {
        format!("{text}\n[{} of {total} bytes shown]", kept.len())
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_with_a_line_break_stays_on_the_status_line() {
        let outcome = Outcome::error("not found: a\nok").with_body("data");
        assert_eq!(outcome.text(), "error: not found: a\\nok\ndata");
        assert_eq!(outcome.text_without_status(), "ok\ndata");
    }

    #[test]
    fn long_output_is_cut_and_says_so() {
        let bytes = vec![b'x'; OUTPUT_CAP + 5];
        let text = capped(&bytes, bytes.len());
        assert!(text.ends_with("\n[65536 of 65541 bytes shown]"));
        assert_eq!(capped(b"short", 5), "short");
    }
}
