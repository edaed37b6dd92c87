//! Writes replies and handshakes in the YAML form that [`load`](super::load) reads.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use serde_json::Value;

use super::ending::{Ending, ErrorForm, Failure};
use super::fault::Event;
use super::item::{ExtraEvent, Part, SearchResult};
use super::model::{Call, CallPayload, Item, Reply, Usage};
use super::socket::{Compression, Handshake};

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
    if let Some(ending) = ending(&reply.ending) {
        let _ = writeln!(out, "    ending: {ending}");
    }
    if let Some(end_turn) = reply.end_turn {
        let _ = writeln!(out, "    end_turn: {end_turn}");
    }
    if !reply.extra_events.is_empty() {
        out.push_str("    extra_events:\n");
        for event in &reply.extra_events {
            let ExtraEvent { before, kind, fields } = event;
            let (before, kind, fields) = (place(before), quoted(kind), flow_map(fields));
            let _ =
                writeln!(out, "      - {{before_event: {before}, type: {kind}, fields: {fields}}}");
        }
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

/// A connection with this handshake, and without faults, as one item of `connections`, indented by
/// two spaces, ending with a line end. No two headers may have the same name.
///
/// Loaded again, it is the same connection.
pub(crate) fn connection_of(handshake: &Handshake) -> String {
    let Handshake { gate, headers, refusal, compression } = handshake;
    let mut fields = Vec::new();
    if let Some(gate) = gate {
        fields.push(format!("gate: {}", quoted(gate)));
    }
    if let Some(refusal) = refusal {
        fields.push(format!("status: {}", refusal.status));
        for (name, text) in [("code", &refusal.code), ("message", &refusal.message)] {
            fields.extend(text.as_ref().map(|text| format!("{name}: {}", quoted(text))));
        }
    }
    if !headers.is_empty() {
        let header =
            |(name, value): &(String, String)| format!("{}: {}", quoted(name), quoted(value));
        let headers: Vec<String> = headers.iter().map(header).collect();
        fields.push(format!("headers: {{{}}}", headers.join(", ")));
    }
    if *compression == Compression::Declined {
        fields.push("compression: false".to_owned());
    }
    if fields.is_empty() {
        "  - {}\n".to_owned()
    } else {
        format!("  - handshake: {{{}}}\n", fields.join(", "))
    }
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
        Item::Reasoning { summary, content, encrypted_content } => {
            let _ = writeln!(out, "      - reasoning:");
            let _ = writeln!(out, "          summary: {}", quoted_list(summary));
            if !content.is_empty() {
                let _ = writeln!(out, "          content: {}", quoted_list(content));
            }
            if let Some(content) = encrypted_content {
                let _ = writeln!(out, "          encrypted_content: {}", quoted(content));
            }
        }
        Item::Parts { parts, phase } => {
            let parts: Vec<String> = parts.iter().map(part).collect();
            let _ = writeln!(out, "      - parts: [{}]", parts.join(", "));
            if let Some(phase) = phase {
                let _ = writeln!(out, "        phase: {}", quoted(phase));
            }
        }
        Item::LocalShell(call) => {
            let _ = writeln!(out, "      - local_shell:");
            let _ = writeln!(out, "          command: {}", quoted_list(&call.command));
            if let Some(call_id) = &call.call_id {
                let _ = writeln!(out, "          call_id: {}", quoted(call_id));
            }
            for (name, value) in &call.more {
                let _ = writeln!(out, "          {}: {}", quoted(name), flow(value));
            }
        }
        Item::WebSearch(search) => {
            let result = |result: &SearchResult| {
                format!("{{url: {}, title: {}}}", quoted(&result.url), quoted(&result.title))
            };
            let results: Vec<String> = search.results.iter().map(result).collect();
            let _ = writeln!(out, "      - web_search:");
            let _ = writeln!(out, "          query: {}", quoted(&search.query));
            let _ = writeln!(out, "          results: [{}]", results.join(", "));
        }
        Item::Compaction { encrypted_content: None } => out.push_str("      - compaction: {}\n"),
        Item::Compaction { encrypted_content: Some(content) } => {
            let _ = writeln!(out, "      - compaction: {{encrypted_content: {}}}", quoted(content));
        }
        Item::Raw(item) => {
            let _ = writeln!(out, "      - raw: {}", flow_map(item));
        }
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text { text, annotations } => {
            let annotations: Vec<String> = annotations.iter().map(flow).collect();
            format!("{{text: {}, annotations: [{}]}}", quoted(text), annotations.join(", "))
        }
        Part::Refusal(text) => format!("{{refusal: {}}}", quoted(text)),
    }
}

/// The value of `ending`, unless it is the one that need not be written.
fn ending(ending: &Ending) -> Option<String> {
    let failure = |failure: &Failure, more: &str| {
        let Failure { code, message, kind, unfinished } = failure;
        let kind = kind.as_ref().map(|kind| format!(", type: {}", quoted(kind)));
        format!(
            "{{code: {}, message: {}{}, unfinished: {unfinished}{more}}}",
            quoted(code),
            quoted(message),
            kind.unwrap_or_default(),
        )
    };
    Some(match ending {
        Ending::Complete => return None,
        Ending::Length => "length".to_owned(),
        Ending::Filtered => "filtered".to_owned(),
        Ending::Reason(reason) => format!("{{reason: {}}}", quoted(reason)),
        Ending::StopSequence(text) => format!("{{stop_sequence: {}}}", quoted(text)),
        Ending::Failed(failed) => format!("{{failed: {}}}", failure(failed, "")),
        Ending::Error { failure: error, form } => {
            let form = match form {
                ErrorForm::Flat => String::new(),
                ErrorForm::Nested { status: None } => ", form: nested".to_owned(),
                ErrorForm::Nested { status: Some(status) } => {
                    format!(", form: nested, status: {status}")
                }
            };
            format!("{{error: {}}}", failure(error, &form))
        }
    })
}

fn place(event: &Event) -> String {
    match event {
        Event::Number(number) => number.to_string(),
        Event::FromEnd(number) => format!("-{number}"),
        Event::Named(name) => quoted(name),
    }
}

fn quoted_list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
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
