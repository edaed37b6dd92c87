//! Whether a condition holds for a request.

use std::fmt;

use http::HeaderMap;
use serde_json::Value;

use crate::script::Condition;
use crate::wire::Wire;

/// A request as conditions see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'q> {
    pub(super) wire: Wire,
    pub(super) headers: &'q HeaderMap,
    pub(super) body: &'q [u8],
    pub(super) json: &'q Value,
}

impl Question<'_> {
    /// Whether the condition holds.
    pub(super) fn meets(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Header { name, contains } => self
                .headers
                .get_all(name.as_str())
                .iter()
                .any(|value| String::from_utf8_lossy(value.as_bytes()).contains(contains)),
            Condition::Equals { pointer, value } => self.json.pointer(pointer) == Some(value),
            Condition::Contains { pointer, text } => self
                .json
                .pointer(pointer)
                .and_then(Value::as_str)
                .is_some_and(|found| found.contains(text)),
            Condition::Absent { pointer } => self.json.pointer(pointer).is_none(),
            Condition::BodyContains { text } => {
                std::str::from_utf8(self.body).is_ok_and(|body| body.contains(text))
                    || any_string(self.json, text)
            }
        }
    }
}

/// Whether a string value or key anywhere contains the text: in the body's own bytes, quotes and
/// line ends are escaped.
fn any_string(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, text)),
        Value::Object(map) => {
            map.iter().any(|(key, value)| key.contains(text) || any_string(value, text))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A condition in words, as messages name it.
pub(super) struct InWords<'c>(pub(super) &'c Condition);

impl fmt::Display for InWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Condition::Header { name, contains } if contains.is_empty() => {
                write!(f, "header `{name}` is there")
            }
            Condition::Header { name, contains } => {
                write!(f, "header `{name}` contains {contains:?}")
            }
            Condition::Equals { pointer, value } => write!(f, "`{pointer}` equals {value}"),
            Condition::Contains { pointer, text } => write!(f, "`{pointer}` contains {text:?}"),
            Condition::Absent { pointer } => write!(f, "nothing stands at `{pointer}`"),
            Condition::BodyContains { text } => write!(f, "the body contains {text:?}"),
        }
    }
}
