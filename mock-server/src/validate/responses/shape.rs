//! Top-level keys and JSON types.

use serde_json::Value;

use super::item::item_type;
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, list, type_name};

/// What a field may hold, beside null.
#[derive(Debug, Clone, Copy)]
enum Type {
    Text,
    Truth,
    Number,
    Map,
    List,
    TextOrList,
    TextOrMap,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Truth => "a boolean",
            Self::Number => "a number",
            Self::Map => "an object",
            Self::List => "an array",
            Self::TextOrList => "a string or an array",
            Self::TextOrMap => "a string or an object",
        }
    }

    fn takes(self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(_) => matches!(self, Self::Text | Self::TextOrList | Self::TextOrMap),
            Value::Bool(_) => matches!(self, Self::Truth),
            Value::Number(_) => matches!(self, Self::Number),
            Value::Array(_) => matches!(self, Self::List | Self::TextOrList),
            Value::Object(_) => matches!(self, Self::Map | Self::TextOrMap),
        }
    }
}

/// The top-level keys of the API.
const KEYS: [(&str, Type); 38] = [
    ("model", Type::Text),
    ("input", Type::TextOrList),
    ("instructions", Type::Text),
    ("tools", Type::List),
    ("tool_choice", Type::TextOrMap),
    ("parallel_tool_calls", Type::Truth),
    ("max_tool_calls", Type::Number),
    ("max_output_tokens", Type::Number),
    ("reasoning", Type::Map),
    ("include", Type::List),
    ("store", Type::Truth),
    ("stream", Type::Truth),
    ("stream_options", Type::Map),
    ("previous_response_id", Type::Text),
    ("conversation", Type::TextOrMap),
    ("prompt", Type::Map),
    ("prompt_cache_key", Type::Text),
    ("prompt_cache_options", Type::Map),
    ("prompt_cache_retention", Type::Text),
    ("service_tier", Type::Text),
    ("text", Type::Map),
    ("truncation", Type::Text),
    ("metadata", Type::Map),
    ("context_management", Type::List),
    ("safety_identifier", Type::Text),
    ("user", Type::Text),
    ("temperature", Type::Number),
    ("top_p", Type::Number),
    ("top_logprobs", Type::Number),
    ("presence_penalty", Type::Number),
    ("frequency_penalty", Type::Number),
    ("background", Type::Truth),
    ("background_options", Type::Map),
    ("moderation", Type::Map),
    ("image", Type::Map),
    ("access_programs", Type::Map),
    ("client_metadata", Type::Map),
    ("internal_chat_message_metadata_passthrough", Type::Map),
];

/// Keys that clients send and the public API does not have.
const PRIVATE: [&str; 2] = ["client_metadata", "internal_chat_message_metadata_passthrough"];

/// Fields of items whose type is fixed.
const ITEM_FIELDS: [(&str, &str, Type); 6] = [
    ("message", "content", Type::TextOrList),
    ("function_call", "arguments", Type::Text),
    ("function_call", "call_id", Type::Text),
    ("function_call_output", "output", Type::TextOrList),
    ("custom_tool_call", "input", Type::Text),
    ("custom_tool_call_output", "output", Type::TextOrList),
];

/// R23: every top-level key is one of the API.
pub(super) fn unknown_key(subject: &Subject<'_>) -> Option<Broken> {
    let is_known =
        |key: &str| KEYS.iter().any(|(known, _)| *known == key) && !PRIVATE.contains(&key);
    let unknown = subject.body.keys().find(|key| !is_known(key))?;
    Some(Broken::at(unknown, format!("Unknown parameter: '{unknown}'")))
}

/// R24: every setting has the JSON type that the API gives it.
pub(super) fn wrong_type(subject: &Subject<'_>) -> Option<Broken> {
    let wrong = |param: String, taken: Type, value: &Value| {
        let found = type_name(value);
        let message =
            format!("invalid type for '{param}': it must be {}, and this is {found}", taken.name());
        Broken::at(param, message)
    };
    let setting = KEYS.iter().find_map(|(key, taken)| {
        let value = subject.body.get(*key)?;
        (!taken.takes(value)).then(|| wrong((*key).to_owned(), *taken, value))
    });
    setting
        .or_else(|| {
            subject.list("input").find_map(|(index, item)| {
                if !item.is_object() {
                    return Some(wrong(format!("input[{index}]"), Type::Map, item));
                }
                let kind = item_type(item)?;
                ITEM_FIELDS.iter().find_map(|(of, name, taken)| {
                    let value = item.get(*name).filter(|_| *of == kind)?;
                    (!taken.takes(value))
                        .then(|| wrong(format!("input[{index}].{name}"), *taken, value))
                })
            })
        })
        .or_else(|| {
            list(subject.json, "tools")
                .find(|(_, tool)| !tool.is_object())
                .map(|(index, tool)| wrong(format!("tools[{index}]"), Type::Map, tool))
        })
}
