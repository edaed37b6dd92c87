//! What a stream adds up to: whole items, kept exactly as they came.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A finished reply: its items in the order of the output.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reply {
    pub(crate) items: Vec<Value>,
    /// Tokens of input and output that the server reports.
    pub(crate) tokens: u64,
}

/// One output item, as far as the agent acts on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The text of an assistant message, refusals included.
    Message(String),
    Call(ModelCall),
    Reasoning,
    /// A type that this agent does not know; it is replayed and reported.
    Unknown(String),
}

/// A call that the model made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelCall {
    pub(crate) kind: CallKind,
    pub(crate) call_id: String,
    pub(crate) name: String,
    /// JSON text for a function, free text for a custom tool.
    pub(crate) arguments: String,
}

/// The two kinds of call that the client has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    Function,
    Custom,
}

/// An item that cannot be worked with.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model sent a {item_type} item without {field}: it cannot be answered")]
pub(crate) struct ItemError {
    item_type: String,
    field: &'static str,
}

/// Reads one output item.
pub(crate) fn hear(item: &Value) -> Result<Heard, ItemError> {
    let item_type = item.get("type").and_then(Value::as_str).unwrap_or_default();
    let field = |field: &'static str| {
        let text = item.get(field).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| ItemError { item_type: item_type.to_owned(), field })
    };
    let call = |kind, arguments| {
        let call_id = field("call_id")?;
        if call_id.is_empty() {
            return Err(ItemError { item_type: item_type.to_owned(), field: "call_id" });
        }
        let (name, arguments) = (field("name")?, field(arguments)?);
        Ok(Heard::Call(ModelCall { kind, call_id, name, arguments }))
    };
    match item_type {
        "message" => Ok(Heard::Message(message_text(item))),
        "function_call" => call(CallKind::Function, "arguments"),
        "custom_tool_call" => call(CallKind::Custom, "input"),
        "reasoning" => Ok(Heard::Reasoning),
        other => Ok(Heard::Unknown(other.to_owned())),
    }
}

fn message_text(item: &Value) -> String {
    let parts = item.get("content").and_then(Value::as_array);
    let texts = parts.into_iter().flatten().filter_map(|part| {
        let key =
            if part.get("type").is_some_and(|kind| kind == "refusal") { "refusal" } else { "text" };
        part.get(key).and_then(Value::as_str)
    });
    texts.collect()
}

/// How a stream ended, if it did by an event of its own.
#[derive(Debug, PartialEq)]
pub(crate) enum Terminal {
    Completed,
    /// The reply is not usable; the text says what the server said.
    Failed(String),
}

/// Collects the events of one stream.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    done: BTreeMap<u64, Value>,
    next: u64,
    partial: String,
    tokens: u64,
}

impl Collector {
    /// Takes the data of one event. `Some` is the end of the stream.
    pub(crate) fn take(&mut self, data: &str) -> Result<Option<Terminal>, serde_json::Error> {
        if data.is_empty() || data.starts_with("[DONE]") {
            return Ok(None);
        }
        let mut event: Value = serde_json::from_str(data)?;
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "response.output_text.delta" => {
                self.partial
                    .push_str(event.get("delta").and_then(Value::as_str).unwrap_or_default());
            }
            "response.output_item.done" => {
                let index = event.get("output_index").and_then(Value::as_u64).unwrap_or(self.next);
                self.next = self.next.max(index.saturating_add(1));
                self.partial.clear();
                if let Some(item) = event.get_mut("item") {
                    self.done.insert(index, item.take());
                }
            }
            "response.completed" => {
                let count = |name| {
                    event.pointer(&format!("/response/usage/{name}")).and_then(Value::as_u64)
                };
                let [input, output] = ["input_tokens", "output_tokens"].map(count);
                self.tokens = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
                // Servers that send no item events still list the items here.
                if self.done.is_empty()
                    && let Some(Value::Array(items)) = event.pointer_mut("/response/output")
                {
                    self.done = (0..).zip(std::mem::take(items)).collect();
                }
                return Ok(Some(Terminal::Completed));
            }
            "response.incomplete" => {
                let reason = text_at(&event, "/response/incomplete_details/reason");
                let reason = reason.unwrap_or("no reason given");
                return Ok(Some(Terminal::Failed(format!("the reply is incomplete: {reason}"))));
            }
            "response.failed" => {
                let failure = describe(&event, "/response/error");
                return Ok(Some(Terminal::Failed(format!("the model failed: {failure}"))));
            }
            "error" => {
                let at = if event.get("error").is_some() { "/error" } else { "" };
                let failure = describe(&event, at);
                return Ok(Some(Terminal::Failed(format!("the server sent an error: {failure}"))));
            }
            // Everything else repeats what the finished items say.
            _ => {}
        }
        Ok(None)
    }

    /// The items that are whole.
    pub(crate) fn finish(self) -> Reply {
        Reply { items: self.done.into_values().collect(), tokens: self.tokens }
    }

    /// The whole items and the text seen so far as one more: what `truncated-is-success` believes.
    pub(crate) fn finish_early(mut self) -> Reply {
        if !self.partial.is_empty() {
            let text = std::mem::take(&mut self.partial);
            let message = json!({
                "type": "message",
                "role": "assistant",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }],
            });
            self.done.insert(self.next, message);
        }
        self.finish()
    }
}

fn text_at<'a>(event: &'a Value, pointer: &str) -> Option<&'a str> {
    event.pointer(pointer).and_then(Value::as_str)
}

/// Code and message of an error object, whatever is there of them.
fn describe(event: &Value, at: &str) -> String {
    let code = text_at(event, &format!("{at}/code"));
    let message = text_at(event, &format!("{at}/message"));
    match (code, message) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(text), None) | (None, Some(text)) => text.to_owned(),
        (None, None) => "no reason given".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(index: u64, item: &Value) -> String {
        json!({ "type": "response.output_item.done", "output_index": index, "item": item })
            .to_string()
    }

    #[test]
    fn items_come_in_the_order_of_the_output_and_keep_unknown_fields() {
        let reasoning =
            json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "e", "new": 1 });
        let call =
            json!({ "type": "function_call", "call_id": "c", "name": "read", "arguments": "{}" });
        let mut collector = Collector::default();
        assert_eq!(collector.take(&done(1, &call)).unwrap(), None);
        assert_eq!(collector.take(&done(0, &reasoning)).unwrap(), None);
        assert_eq!(collector.take("[DONE]").unwrap(), None);
        assert_eq!(collector.take(r#"{"type":"keepalive"}"#).unwrap(), None);
        let end = collector.take(r#"{"type":"response.completed","response":{"output":[]}}"#);
        assert_eq!(end.unwrap(), Some(Terminal::Completed));
        assert_eq!(collector.finish().items, [reasoning, call]);
    }

    #[test]
    fn failures_say_what_the_server_said() {
        for (event, expected) in [
            (
                r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
                "the reply is incomplete: max_output_tokens",
            ),
            (
                r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"no"}}}"#,
                "the model failed: server_error: no",
            ),
            (r#"{"type":"error","code":null,"message":"flat"}"#, "the server sent an error: flat"),
            (r#"{"type":"error","error":{"code":"nested"}}"#, "the server sent an error: nested"),
        ] {
            let end = Collector::default().take(event).unwrap();
            assert_eq!(end, Some(Terminal::Failed(expected.to_owned())));
        }
    }

    #[test]
    fn half_a_message_is_no_item_unless_the_defect_believes_it() {
        let delta = r#"{"type":"response.output_text.delta","delta":"half"}"#;
        let mut collector = Collector::default();
        collector.take(delta).unwrap();
        assert_eq!(collector.finish(), Reply::default());
        let mut collector = Collector::default();
        collector.take(delta).unwrap();
        let reply = collector.finish_early();
        assert_eq!(hear(&reply.items[0]).unwrap(), Heard::Message("half".to_owned()));
    }

    #[test]
    fn a_call_without_an_id_cannot_be_answered() {
        let item =
            json!({ "type": "function_call", "call_id": "", "name": "read", "arguments": "{}" });
        let error = hear(&item).unwrap_err().to_string();
        assert!(error.contains("function_call item without call_id"), "{error}");
    }

    #[test]
    fn an_unknown_item_keeps_its_name() {
        let heard = hear(&json!({ "type": "web_search_call" })).unwrap();
        assert_eq!(heard, Heard::Unknown("web_search_call".to_owned()));
    }
}
