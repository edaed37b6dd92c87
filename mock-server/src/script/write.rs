//! Writes replies in the YAML form that [`load`](super::load) reads.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use serde_json::Value;

use super::model::{Call, CallPayload, Ending, Item, Reply, Usage};

/// The reply as one item of `turns`, indented by two spaces, ending with a line end.
///
/// Loaded again, it is the same reply.
pub(crate) fn turn_of(reply: &Reply) -> String {
    let mut out = String::new();
    if reply.items.is_empty() {
        out.push_str("  - items: []\n");
    } else {
        out.push_str("  - items:\n");
        for item in &reply.items {
            write_item(&mut out, item);
        }
    }
    match reply.ending {
        Ending::Complete => {}
        Ending::Length => out.push_str("    ending: length\n"),
        Ending::Filtered => out.push_str("    ending: filtered\n"),
    }
    if reply.usage != Usage::default() {
        let Usage { input, cached, output, reasoning } = reply.usage;
        let _ = writeln!(
            out,
            "    usage: {{input: {input}, cached: {cached}, output: {output}, reasoning: \
             {reasoning}}}"
        );
    }
    if !reply.headers.is_empty() {
        out.push_str("    headers:\n");
        for (name, value) in &reply.headers {
            let _ = writeln!(out, "      {}: {}", quoted(name), quoted(value));
        }
    }
    out
}

fn write_item(out: &mut String, item: &Item) {
    match item {
        Item::Message { text, phase } => {
            let _ = writeln!(out, "      - say: {}", quoted(text));
            if let Some(phase) = phase {
                let _ = writeln!(out, "        phase: {}", quoted(phase));
            }
        }
        Item::Call(call) => write_call(out, call),
        Item::Reasoning { summary, encrypted_content } => {
            let summary: Vec<String> = summary.iter().map(|text| quoted(text)).collect();
            let _ = writeln!(out, "      - reasoning:");
            let _ = writeln!(out, "          summary: [{}]", summary.join(", "));
            if let Some(content) = encrypted_content {
                let _ = writeln!(out, "          encrypted_content: {}", quoted(content));
            }
        }
    }
}

fn write_call(out: &mut String, call: &Call) {
    let Call { name, namespace, payload, call_id, must_be_offered } = call;
    let payload = match payload {
        CallPayload::Arguments(map) => ("arguments", flow_map(map)),
        CallPayload::RawArguments(text) => ("raw_arguments", quoted(text)),
        CallPayload::Input(text) => ("input", quoted(text)),
    };
    let fields = [
        Some(("name", quoted(name))),
        namespace.as_ref().map(|namespace| ("namespace", quoted(namespace))),
        call_id.as_ref().map(|call_id| ("call_id", quoted(call_id))),
        Some(payload),
        (!must_be_offered).then(|| ("offered", "false".to_owned())),
    ];
    out.push_str("      - call:\n");
    for (name, value) in fields.into_iter().flatten() {
        let _ = writeln!(out, "          {name}: {value}");
    }
}

/// A JSON value in YAML's flow style, which is JSON but for the escapes of some characters.
fn flow(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => flow_map(map),
    }
}

fn flow_map(map: &serde_json::Map<String, Value>) -> String {
    let entry = |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), flow(value));
    let entries: Vec<String> = map.iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

/// A text in double quotes. Characters that YAML does not count as printable are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => escape(&mut out, c),
            c if c.is_control() => escape(&mut out, c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn escape(out: &mut String, c: char) {
    let _ = write!(out, "\\u{:04X}", u32::from(c));
}
