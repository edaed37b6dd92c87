//! JSON-RPC in lines: what a line from an agent is.

use serde_json::Value;

/// A line from the agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// It asks and waits for an answer.
    Request { id: Value, method: String, params: Value },
    /// It tells.
    Notification { method: String, params: Value },
    /// It answers; a refusal in its own words.
    Response { id: Value, answer: Result<Value, String> },
}

impl Message {
    /// Reads a line; or says what is wrong with it.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let mut value: Value = serde_json::from_slice(line)
            .map_err(|error| format!("a line is not JSON ({error})"))?;
        let mut take = |name: &str| value.get_mut(name).map(Value::take);
        let id = take("id").filter(|id| !id.is_null());
        let params = take("params").unwrap_or_default();
        let (result, error) = (take("result"), take("error"));
        match (take("method"), id) {
            (Some(Value::String(method)), Some(id)) => Ok(Self::Request { id, method, params }),
            (Some(Value::String(method)), None) => Ok(Self::Notification { method, params }),
            (None, Some(id)) => match (result, error) {
                (Some(result), None) => Ok(Self::Response { id, answer: Ok(result) }),
                (_, Some(error)) => Ok(Self::Response { id, answer: Err(error_text(&error)) }),
                (None, None) => Err("an answer has neither `result` nor `error`".to_owned()),
            },
            _ => Err("a line is neither a request, an answer nor a notification".to_owned()),
        }
    }
}

fn error_text(error: &Value) -> String {
    text(error, "/message").map_or_else(|| error.to_string(), str::to_owned)
}

/// The string at a JSON pointer.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_a_request_a_notification_or_an_answer() {
        let parse = |line: &str| Message::parse(line.as_bytes());
        assert_eq!(
            parse(r#"{"method":"ask","id":0,"params":{"a":1}}"#),
            Ok(Message::Request { id: json!(0), method: "ask".into(), params: json!({"a": 1}) })
        );
        assert_eq!(
            parse(r#"{"method":"tell","emittedAtMs":5}"#),
            Ok(Message::Notification { method: "tell".into(), params: Value::Null })
        );
        assert_eq!(
            parse(r#"{"id":"x","result":null}"#),
            Ok(Message::Response { id: json!("x"), answer: Ok(Value::Null) })
        );
        assert_eq!(
            parse(r#"{"id":2,"error":{"code":-32600,"message":"no such thread"}}"#),
            Ok(Message::Response { id: json!(2), answer: Err("no such thread".into()) })
        );
        for line in ["", "x", "[]", "7", "{}", r#"{"id":1}"#, r#"{"method":3,"id":1}"#] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
