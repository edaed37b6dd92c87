//! What a response, its items and its events must have, as the specification says it.

use serde_json::{Map, Value, json};

/// A kind of value.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Object,
    /// A text or an object.
    Choice,
    /// The kind, or null.
    OrNull(&'static Kind),
}

impl Kind {
    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::Choice => value.is_string() || value.is_object(),
            Self::OrNull(kind) => value.is_null() || kind.holds(value),
        }
    }
}

type Fields = &'static [(&'static str, Kind)];

const TEXT_OR_NULL: Kind = Kind::OrNull(&Kind::Text);
const INTEGER_OR_NULL: Kind = Kind::OrNull(&Kind::Integer);
const OBJECT_OR_NULL: Kind = Kind::OrNull(&Kind::Object);

/// Every field is required.
const RESPONSE: Fields = &[
    ("id", Kind::Text),
    ("object", Kind::Text),
    ("created_at", Kind::Integer),
    ("completed_at", INTEGER_OR_NULL),
    ("status", Kind::Text),
    ("incomplete_details", OBJECT_OR_NULL),
    ("model", Kind::Text),
    ("previous_response_id", TEXT_OR_NULL),
    ("instructions", TEXT_OR_NULL),
    ("output", Kind::List),
    ("error", OBJECT_OR_NULL),
    ("tools", Kind::List),
    ("tool_choice", Kind::Choice),
    ("truncation", Kind::Text),
    ("parallel_tool_calls", Kind::Boolean),
    ("text", Kind::Object),
    ("top_p", Kind::Number),
    ("presence_penalty", Kind::Number),
    ("frequency_penalty", Kind::Number),
    ("top_logprobs", Kind::Integer),
    ("temperature", Kind::Number),
    ("reasoning", OBJECT_OR_NULL),
    ("usage", OBJECT_OR_NULL),
    ("max_output_tokens", INTEGER_OR_NULL),
    ("max_tool_calls", INTEGER_OR_NULL),
    ("store", Kind::Boolean),
    ("background", Kind::Boolean),
    ("service_tier", Kind::Text),
    ("metadata", OBJECT_OR_NULL),
    ("safety_identifier", TEXT_OR_NULL),
    ("prompt_cache_key", TEXT_OR_NULL),
];

const USAGE: Fields = &[
    ("input_tokens", Kind::Integer),
    ("output_tokens", Kind::Integer),
    ("total_tokens", Kind::Integer),
    ("input_tokens_details", Kind::Object),
    ("output_tokens_details", Kind::Object),
];

const TOOL: Fields = &[
    ("type", Kind::Text),
    ("name", Kind::Text),
    ("description", TEXT_OR_NULL),
    ("parameters", OBJECT_OR_NULL),
    ("strict", Kind::OrNull(&Kind::Boolean)),
];

const DELTA: Fields = &[
    ("item_id", Kind::Text),
    ("output_index", Kind::Integer),
    ("content_index", Kind::Integer),
    ("delta", Kind::Text),
];
const PART: Fields = &[
    ("item_id", Kind::Text),
    ("output_index", Kind::Integer),
    ("content_index", Kind::Integer),
    ("part", Kind::Object),
];
const ITEM: Fields = &[("output_index", Kind::Integer), ("item", Kind::Object)];
const WHOLE: Fields = &[("response", Kind::Object)];

fn fields(found: &mut Vec<String>, at: &str, value: &Value, fields: Fields) {
    let empty = Map::new();
    let object = value.as_object().unwrap_or(&empty);
    for (name, kind) in fields {
        match object.get(*name) {
            None => found.push(format!("{at}/{name} is missing")),
            Some(value) if !kind.holds(value) => {
                found.push(format!("{at}/{name} is {value}, not {kind:?}"));
            }
            Some(_) => {}
        }
    }
}

fn one_of(found: &mut Vec<String>, at: &str, value: &Value, choices: &[&str]) {
    if !value.as_str().is_some_and(|text| choices.contains(&text)) {
        found.push(format!("{at} is {value}, not one of {choices:?}"));
    }
}

fn list(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

/// All that a response lacks.
pub(crate) fn response(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    response_at(&mut found, "", value);
    found
}

fn response_at(found: &mut Vec<String>, at: &str, value: &Value) {
    fields(found, at, value, RESPONSE);
    one_of(found, &format!("{at}/object"), &value["object"], &["response"]);
    one_of(found, &format!("{at}/truncation"), &value["truncation"], &["auto", "disabled"]);
    fields(found, &format!("{at}/text"), &value["text"], &[("format", Kind::Object)]);
    if !value["usage"].is_null() {
        usage(found, &format!("{at}/usage"), &value["usage"]);
    }
    for (index, tool) in list(&value["tools"]).filter(|(_, tool)| tool["type"] == "function") {
        fields(found, &format!("{at}/tools/{index}"), tool, TOOL);
    }
    for (index, item) in list(&value["output"]) {
        item_at(found, &format!("{at}/output/{index}"), item);
    }
}

fn usage(found: &mut Vec<String>, at: &str, value: &Value) {
    fields(found, at, value, USAGE);
    for (details, figure) in
        [("input_tokens_details", "cached_tokens"), ("output_tokens_details", "reasoning_tokens")]
    {
        if !Kind::Integer.holds(&value[details][figure]) {
            found.push(format!("{at}/{details}/{figure} is no integer"));
        }
    }
}

/// All that an item of an output lacks.
pub(crate) fn item(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    item_at(&mut found, "", value);
    found
}

fn item_at(found: &mut Vec<String>, at: &str, item: &Value) {
    fields(found, at, item, &[("type", Kind::Text), ("id", Kind::Text)]);
    let status = |found: &mut Vec<String>| {
        let choices = ["in_progress", "completed", "incomplete"];
        one_of(found, &format!("{at}/status"), &item["status"], &choices);
    };
    match item["type"].as_str().unwrap_or_default() {
        "message" => {
            status(found);
            fields(found, at, item, &[("role", Kind::Text), ("content", Kind::List)]);
            if let Some(phase) = item.get("phase").filter(|phase| !phase.is_null()) {
                let choices = ["commentary", "final_answer"];
                one_of(found, &format!("{at}/phase"), phase, &choices);
            }
            for (index, part) in list(&item["content"]) {
                part_at(found, &format!("{at}/content/{index}"), part);
            }
        }
        "function_call" => {
            status(found);
            let rest = &[("call_id", Kind::Text), ("name", Kind::Text), ("arguments", Kind::Text)];
            fields(found, at, item, rest);
        }
        "reasoning" => fields(found, at, item, &[("summary", Kind::List)]),
        "compaction" => fields(found, at, item, &[("encrypted_content", Kind::Text)]),
        other => found.push(format!("{at}/type is {other:?}, which is unknown")),
    }
}

fn part_at(found: &mut Vec<String>, at: &str, part: &Value) {
    match part["type"].as_str().unwrap_or_default() {
        "output_text" => {
            let all =
                &[("text", Kind::Text), ("annotations", Kind::List), ("logprobs", Kind::List)];
            fields(found, at, part, all);
        }
        "refusal" => fields(found, at, part, &[("refusal", Kind::Text)]),
        "input_text" => fields(found, at, part, &[("text", Kind::Text)]),
        other => found.push(format!("{at}/type is {other:?}, which is unknown")),
    }
}

/// All that an event of a stream lacks; an event of an unknown type is a fault of its own.
pub(crate) fn event(event: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let kind = event["type"].as_str().unwrap_or_default();
    let at = kind;
    fields(&mut found, at, event, &[("sequence_number", Kind::Integer)]);
    let own: Fields = match kind {
        "response.created"
        | "response.in_progress"
        | "response.queued"
        | "response.completed"
        | "response.incomplete"
        | "response.failed" => {
            response_at(&mut found, at, &event["response"]);
            WHOLE
        }
        "response.output_item.added" | "response.output_item.done" => {
            item_at(&mut found, at, &event["item"]);
            ITEM
        }
        "response.content_part.added" | "response.content_part.done" => {
            part_at(&mut found, at, &event["part"]);
            PART
        }
        "response.output_text.delta" => {
            fields(&mut found, at, event, &[("logprobs", Kind::List)]);
            DELTA
        }
        "response.output_text.done" => {
            fields(&mut found, at, event, &[("text", Kind::Text), ("logprobs", Kind::List)]);
            &DELTA[..3]
        }
        "response.function_call_arguments.delta" => {
            fields(&mut found, at, event, &[("delta", Kind::Text)]);
            &DELTA[..2]
        }
        "response.function_call_arguments.done" => {
            fields(&mut found, at, event, &[("arguments", Kind::Text)]);
            &DELTA[..2]
        }
        "error" => &[],
        other => {
            found.push(format!("{other:?} is no event of the specification"));
            &[]
        }
    };
    fields(&mut found, at, event, own);
    found
}

/// All that a compaction lacks.
pub(crate) fn compaction(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let all = &[
        ("id", Kind::Text),
        ("object", Kind::Text),
        ("created_at", Kind::Integer),
        ("output", Kind::List),
        ("usage", Kind::Object),
    ];
    fields(&mut found, "", value, all);
    one_of(&mut found, "/object", &value["object"], &["response.compaction"]);
    usage(&mut found, "/usage", &value["usage"]);
    for (index, item) in list(&value["output"]) {
        item_at(&mut found, &format!("/output/{index}"), item);
    }
    found
}

/// `response-output-phase-schema`: a message may say its phase, and only one that is known.
#[test]
fn response_output_phase_schema() {
    let message = |phase: Option<&str>| {
        let mut message = json!({
            "type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": "", "annotations": [], "logprobs": []}],
        });
        if let Some(phase) = phase {
            message["phase"] = json!(phase);
        }
        message
    };
    for known in [None, Some("commentary"), Some("final_answer")] {
        assert_eq!(item(&message(known)), Vec::<String>::new());
    }
    assert_eq!(
        item(&message(Some("prelude"))),
        [r#"/phase is "prelude", not one of ["commentary", "final_answer"]"#]
    );
}

/// The schema itself can fail: whatever is taken from a good response, it is missed.
#[tokio::test]
async fn a_response_without_any_one_of_its_fields_is_refused() {
    let server = crate::start().await;
    let whole = crate::http::ask(&server, &json!({})).await;
    assert_eq!(response(&whole), Vec::<String>::new());
    for (field, _) in RESPONSE {
        let mut lacking = whole.clone();
        lacking.as_object_mut().unwrap().remove(*field);
        let found = response(&lacking);
        assert!(found.contains(&format!("/{field} is missing")), "{field}: {found:?}");
    }
}
