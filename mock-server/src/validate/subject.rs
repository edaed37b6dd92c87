//! The request under validation.

use http::HeaderMap;
use serde_json::{Map, Value};

use super::memory::Memory;
use super::service::{ModelFacts, Service};
use crate::wire::Wire;

/// A request, with all that rules may ask about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'s> {
    pub(crate) wire: Wire,
    pub(crate) headers: &'s HeaderMap,
    pub(crate) json: &'s Value,
    pub(super) body: &'s Map<String, Value>,
    pub(super) service: &'s Service,
    pub(super) memory: &'s Memory,
}

impl<'s> Subject<'s> {
    /// A top-level field, unless it is absent or null.
    pub(super) fn field(&self, name: &str) -> Option<&'s Value> {
        self.body.get(name).filter(|value| !value.is_null())
    }

    /// A top-level field that is text.
    pub(super) fn text(&self, name: &str) -> Option<&'s str> {
        self.field(name).and_then(Value::as_str)
    }

    /// Whether a top-level field is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.field(name) == Some(&Value::Bool(true))
    }

    /// The elements of a top-level list, with their places.
    pub(super) fn list(&self, name: &str) -> impl Iterator<Item = (usize, &'s Value)> + use<'s> {
        self.field(name).and_then(Value::as_array).into_iter().flatten().enumerate()
    }

    /// The facts of the model asked for.
    pub(super) fn facts(&self) -> ModelFacts {
        self.service.facts(self.text("model").unwrap_or_default())
    }

    /// How many tokens the request is said to have.
    pub(super) fn tokens(&self) -> u64 {
        u64::try_from(crate::wire::count_tokens(self.wire, self.json)).unwrap_or(u64::MAX)
    }

    /// The tokens of the request and the window of its model, if it does not fit.
    pub(super) fn overflow(&self) -> Option<(u64, u64)> {
        let window = self.facts().window?;
        let tokens = self.tokens();
        (tokens > window).then_some((tokens, window))
    }
}

/// A field that is text.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// The elements of a list in a field, with their places.
pub(super) fn list<'v>(
    value: &'v Value,
    name: &str,
) -> impl Iterator<Item = (usize, &'v Value)> + use<'v> {
    value.get(name).and_then(Value::as_array).into_iter().flatten().enumerate()
}

/// The name of a value's JSON type, as messages use it.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
