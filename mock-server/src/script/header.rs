//! Which headers a reply can set.

use http::{HeaderName, HeaderValue};

/// Headers that say how the bytes of an answer are to be read: the server alone sets them.
const FRAMING: [&str; 8] = [
    "connection",
    "content-encoding",
    "content-length",
    "sec-websocket-accept",
    "sec-websocket-extensions",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Why a reply cannot set a header, if it cannot.
pub(crate) fn header_problem(name: &str, value: &str) -> Option<&'static str> {
    if HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Some("this is no header name");
    }
    if FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
        return Some("the server itself sets it, since it frames the answer");
    }
    if HeaderValue::from_str(value).is_err() {
        return Some("its value holds a line end or another control character");
    }
    None
}
