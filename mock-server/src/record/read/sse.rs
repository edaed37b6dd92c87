//! Server-sent events, by the rules of the HTML standard.

use serde_json::Value;

/// One event whose data is JSON. The mark that ends a stream of Chat Completions is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// The data; its `type`, where the wire has one, is the event's name.
    pub(super) data: Value,
}

impl Event {
    /// The event's name.
    pub(super) fn kind(&self) -> &str {
        self.data["type"].as_str().unwrap_or_default()
    }
}

/// All events of a stream. An event without the blank line at its end is not one.
pub(super) fn events(stream: &str) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    let mut name = "";
    let mut data: Option<String> = None;
    for line in lines(stream.strip_prefix('\u{feff}').unwrap_or(stream)) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            _ if line.is_empty() => {
                if let Some(data) = data.take().filter(|data| data != "[DONE]") {
                    events.push(parse(std::mem::take(&mut name), &data)?);
                }
                name = "";
            }
            "event" => name = value,
            "data" => match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                none => *none = Some(value.to_owned()),
            },
            // Comments, ids and retry times say nothing of the reply.
            _ => {}
        }
    }
    Ok(events)
}

/// The lines that are ended, by CR, LF or both.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(['\r', '\n'])?;
        let line = &rest[..end];
        let after = &rest[end..];
        rest = after.strip_prefix("\r\n").unwrap_or(&after[1..]);
        Some(line)
    })
}

fn parse(name: &str, data: &str) -> Result<Event, String> {
    let mut data: Value = serde_json::from_str(data)
        .map_err(|error| format!("an event's data cannot be parsed as JSON: {error}"))?;
    if !name.is_empty() && data.is_object() && data.get("type").is_none() {
        data["type"] = name.into();
    }
    Ok(Event { data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_line_end_and_comment_is_read() {
        let stream = "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\r\ndata: 1}\r\n\r\n\
                      data:{\"type\":\"b\"}\r\rid: 7\ndata: [DONE]\n\ndata: {\"cut\": 1}\n";
        let read: Vec<Value> =
            events(stream).unwrap().into_iter().map(|event| event.data).collect();
        assert_eq!(read, [json!({"x": 1, "type": "a"}), json!({"type": "b"})]);
    }
}
