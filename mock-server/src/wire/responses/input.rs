//! The input of a request as the API lists it.

use serde_json::{Value, json};

/// The items of a request's input, each with a type and an id; `name` makes the ids its own.
pub(crate) fn input_items(request: &Value, name: &str) -> Vec<Value> {
    let items = match request.get("input") {
        Some(Value::Array(items)) => items.clone(),
        Some(text @ Value::String(_)) => vec![json!({"role": "user", "content": text})],
        _ => Vec::new(),
    };
    items.into_iter().enumerate().map(|(index, item)| listed(item, name, index)).collect()
}

fn listed(mut item: Value, name: &str, index: usize) -> Value {
    let Value::Object(fields) = &mut item else { return item };
    if !fields.contains_key("type") {
        fields.insert("type".to_owned(), json!("message"));
    }
    let prefix = match fields["type"].as_str() {
        Some("message") => "msg",
        Some("function_call") => "fc",
        Some("function_call_output") => "fco",
        Some("custom_tool_call") => "ctc",
        Some("custom_tool_call_output") => "ctco",
        Some("reasoning") => "rs",
        Some("compaction") => "cmp",
        _ => "item",
    };
    if !fields.get("id").is_some_and(Value::is_string) {
        fields.insert("id".to_owned(), json!(format!("{prefix}_{name}_in{}", index + 1)));
    }
    // A client may leave the status out; the service never does where there is one.
    if matches!(prefix, "msg" | "fc" | "fco") && !fields.get("status").is_some_and(Value::is_string)
    {
        fields.insert("status".to_owned(), json!("completed"));
    }
    if let Some(text) = fields.get("content").and_then(Value::as_str) {
        let part = if fields["role"] == "assistant" {
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
        } else {
            json!({"type": "input_text", "text": text})
        };
        fields.insert("content".to_owned(), json!([part]));
    }
    item
}
