//! What is to be written down of one wish for a `WebSocket`.

use bytes::Bytes;
use http::header::HeaderMap;
use http::{Method, StatusCode};
use serde_json::Value;

use super::note::{Note, REPLY_LIMIT};
use super::tee::End;
use crate::script::{Handshake, Refusal};
use crate::server::decoded;
use crate::wire::Wire;

/// Headers of an answer that say how a client is to go on. No other is written down.
const KEPT: [&str; 7] = [
    "openai-model",
    "openai-version",
    "retry-after",
    "retry-after-ms",
    "x-models-etag",
    "x-reasoning-included",
    "x-should-retry",
];

/// What the names of more such headers begin with.
const KEPT_FAMILIES: [&str; 2] = ["x-codex-", "x-ratelimit-"];

/// A wish for a connection that a script can describe.
pub(super) struct Asked {
    note: Note,
    /// Which of all connections.
    index: usize,
    headers: HeaderMap,
    status: StatusCode,
}

impl Asked {
    /// A client asks for a connection; its place is kept.
    pub(super) fn new(note: Note) -> Self {
        let index = note.recorder.cassette.ask();
        Self { note, index, headers: HeaderMap::new(), status: StatusCode::OK }
    }

    /// Whether such a request is counted as a connection when the script is played.
    pub(super) fn is_counted(method: &Method, wire: Option<Wire>) -> bool {
        *method == Method::GET && wire == Some(Wire::ResponsesWs)
    }

    /// The client was let in.
    pub(super) fn let_in(self, headers: &HeaderMap) {
        let handshake = Handshake { headers: kept(headers), ..Handshake::default() };
        self.write(&handshake, &[]);
    }

    /// The client was not let in; the body is yet to come.
    pub(super) fn refused(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.status = status;
        self.headers = headers.clone();
    }

    /// The body of the refusal has ended.
    pub(super) fn ended(mut self, end: End) {
        let status = self.status.as_u16();
        if !self.status.is_client_error() && !self.status.is_server_error() {
            return self.gap(&format!("the service answered with status {status}"));
        }
        let mut left_out = Vec::new();
        let error = match read(end, &self.headers) {
            Ok(error) => error,
            Err(reason) => {
                left_out.push(format!("the body of the refusal with status {status}: {reason}"));
                Error::default()
            }
        };
        let Error { code, message, kind } = error;
        let refusal = Refusal { status, code, message };
        if let Some(kind) = kind.filter(|kind| kind != refusal.kind()) {
            left_out.push(format!("the type {kind:?} of the refusal with status {status}"));
        }
        let refusal = Some(refusal);
        let headers = kept(&self.headers);
        self.write(&Handshake { headers, refusal, ..Handshake::default() }, &left_out);
    }

    /// There was no answer, for this reason.
    pub(super) fn gap(&mut self, reason: &str) {
        self.note.gap(reason);
    }

    fn write(self, handshake: &Handshake, left_out: &[String]) {
        let Note { recorder, credentials, about, .. } = &self.note;
        let clean = recorder.scrubber.handshake(handshake, credentials);
        let left_out = left_out.iter().map(|part| recorder.scrubber.text(part, credentials));
        recorder.cassette.answered(self.index, clean, about.clone(), left_out.collect());
        self.note.nothing();
    }
}

/// What a script can say of a refusal's body.
#[derive(Debug, Default, PartialEq, Eq)]
struct Error {
    code: Option<String>,
    message: Option<String>,
    kind: Option<String>,
}

/// Reads the body of a refusal.
fn read(end: End, headers: &HeaderMap) -> Result<Error, String> {
    let bytes = match end {
        End::Whole(bytes) => decoded(Bytes::from(bytes), headers, REPLY_LIMIT)?,
        End::Lost(reason) => return Err(reason.to_owned()),
    };
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let error = &body["error"];
    let text = |key: &str| error[key].as_str().map(str::to_owned);
    match text("message") {
        Some(message) => {
            Ok(Error { code: text("code"), message: Some(message), kind: text("type") })
        }
        None => Err("it is no error of the API".to_owned()),
    }
}

/// The headers that are written down, in their order. A script has one of each name.
fn kept(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_kept = |name: &str| {
        KEPT.contains(&name) || KEPT_FAMILIES.iter().any(|family| name.starts_with(family))
    };
    let names = headers.keys().filter(|name| is_kept(name.as_str()));
    let header = |name: &http::HeaderName| {
        let value = headers.get(name)?.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    };
    names.filter_map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Result<Error, String> {
        read(End::Whole(text.as_bytes().to_vec()), &HeaderMap::new())
    }

    #[test]
    fn the_error_of_a_refusal_is_read() {
        let error = |code: Option<&str>, kind: Option<&str>| Error {
            code: code.map(str::to_owned),
            message: Some("No.".to_owned()),
            kind: kind.map(str::to_owned),
        };
        let read = body(r#"{"error": {"message": "No.", "type": "x", "code": "closed"}}"#);
        assert_eq!(read, Ok(error(Some("closed"), Some("x"))));
        assert_eq!(body(r#"{"error": {"message": "No.", "code": null}}"#), Ok(error(None, None)));
    }

    #[test]
    fn a_body_of_another_form_is_named() {
        for text in ["", "<html>", "[]", r#"{"detail": "No."}"#, r#"{"error": "No."}"#] {
            assert!(body(text).is_err(), "{text}");
        }
        assert_eq!(
            read(End::Lost("it is too long"), &HeaderMap::new()).unwrap_err(),
            "it is too long"
        );
    }

    #[test]
    fn only_headers_that_a_client_goes_by_are_kept() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("date", "now"),
            ("x-models-etag", "\"1\""),
            ("set-cookie", "a=b"),
            ("x-codex-turn-state", "A"),
            ("x-codex-turn-state", "B"),
            ("openai-organization", "acme"),
            ("retry-after", "3"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        let wanted =
            [("x-models-etag", "\"1\""), ("x-codex-turn-state", "A"), ("retry-after", "3")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(kept(&headers), wanted);
    }
}
