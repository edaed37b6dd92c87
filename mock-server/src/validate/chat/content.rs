//! What messages hold.

use serde_json::Value;

use super::pairing::calls;
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, list, text, type_name};

/// C6: a message has content; an assistant message may have calls instead.
pub(super) fn missing(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("messages").find_map(|(index, message)| {
        let content = message.get("content").unwrap_or(&Value::Null);
        let has = |name: &str| message.get(name).is_some_and(|value| !value.is_null());
        let may_lack = match text(message, "role")? {
            "assistant" => {
                has("function_call")
                    || has("refusal")
                    || has("audio")
                    || calls(message).next().is_some()
            }
            "function" => true,
            _ => false,
        };
        let is_right = match content {
            Value::String(_) | Value::Array(_) => true,
            Value::Null => may_lack,
            _ => false,
        };
        (!is_right).then(|| {
            let found = type_name(content);
            Broken::at(
                format!("messages[{index}].content"),
                format!("content must be a string or an array of parts, and this is {found}"),
            )
        })
    })
}

/// C18: a model that reads text alone gets no image.
pub(super) fn image(subject: &Subject<'_>) -> Option<Broken> {
    if subject.facts().images == Some(true) {
        return None;
    }
    let mut parts = subject.list("messages").flat_map(|(_, message)| list(message, "content"));
    parts.find(|(_, part)| text(part, "type") == Some("image_url"))?;
    Some(Broken::whole("unknown variant `image_url`: this model reads text alone"))
}

/// C19: the arguments of a replayed call are JSON; none at all stand for `{}`.
pub(super) fn arguments(subject: &Subject<'_>) -> Option<Broken> {
    let mut all = subject.list("messages").flat_map(|(_, message)| calls(message));
    let (id, problem) = all.find_map(|call| {
        let arguments = text(call.get("function")?, "arguments").filter(|text| !text.is_empty())?;
        let problem = serde_json::from_str::<Value>(arguments).err()?;
        Some((text(call, "id").unwrap_or_default(), problem))
    })?;
    Some(Broken::whole(format!("the arguments of call '{id}' are no JSON: {problem}")))
}
