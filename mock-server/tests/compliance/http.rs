//! The checks over HTTP.

use async_openai::types::responses::{Response, ResponseStreamEvent};
use conform_mock_server::server::MockServer;
use serde_json::{Value, json};

use crate::{schema, start};

const NOTHING: Vec<String> = Vec::new();

pub(crate) fn message(role: &str, content: &Value) -> Value {
    json!({"type": "message", "role": role, "content": content})
}

async fn post(server: &MockServer, path: &str, body: &Value) -> reqwest::Response {
    let url = format!("{}{path}", server.base_url());
    reqwest::Client::new().post(url).json(body).send().await.expect("an answer")
}

/// The completed response to a request with these fields; it is one in full.
pub(crate) async fn ask(server: &MockServer, more: &Value) -> Value {
    let mut body = json!({"model": "any", "input": [message("user", &json!("Say hello."))]});
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    let answer = post(server, "/responses", &body).await;
    assert_eq!(answer.status(), 200);
    let response: Value = answer.json().await.expect("JSON");
    assert_eq!(schema::response(&response), NOTHING);
    assert_eq!(response["status"], "completed");
    assert_ne!(response["output"], json!([]));
    // A library that is generated from the same interface reads it too.
    serde_json::from_value::<Response>(response.clone()).expect("a typed response");
    response
}

async fn ask_input(server: &MockServer, input: Value) -> Value {
    ask(server, &json!({ "input": input })).await
}

pub(crate) async fn basic_response(server: &MockServer) {
    ask(server, &json!({})).await;
    ask_input(server, json!("Say hello.")).await;
}

pub(crate) async fn assistant_phase(server: &MockServer) {
    let mut said = message("assistant", &json!("I will look at it."));
    said["phase"] = json!("commentary");
    let input = json!([message("user", &json!("Go.")), said, message("user", &json!("Well?"))]);
    let response = ask_input(server, input).await;
    assert_eq!(response["output"][0]["phase"], "final_answer");
}

pub(crate) async fn system_prompt(server: &MockServer) {
    let system = message("system", &json!("Answer like a sailor."));
    ask_input(server, json!([system, message("user", &json!("Say hello."))])).await;
}

pub(crate) async fn image_input(server: &MockServer) {
    // One red pixel.
    let image = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
    let content = json!([
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": image},
    ]);
    ask_input(server, json!([message("user", &content)])).await;
}

pub(crate) async fn multi_turn(server: &MockServer) {
    let input = json!([
        message("user", &json!("I am Anna.")),
        message("assistant", &json!("Hello, Anna.")),
        message("user", &json!("Who am I?")),
    ]);
    ask_input(server, input).await;
}

fn weather() -> Value {
    json!([{
        "type": "function",
        "name": "get_weather",
        "description": "The weather at a place",
        "parameters": {
            "type": "object",
            "properties": {"location": {"type": "string"}},
            "required": ["location"],
        },
    }])
}

pub(crate) async fn tool_calling(server: &MockServer) {
    let response = ask(server, &json!({"tools": weather()})).await;
    let call = &response["output"][0];
    assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("get_weather")));
    let arguments = call["arguments"].as_str().expect("a text");
    let arguments: Value = serde_json::from_str(arguments).expect("JSON");
    assert!(arguments["location"].is_string(), "{arguments}");

    let events = stream(server, &json!({"tools": weather()})).await;
    let types: Vec<_> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    for wanted in [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ] {
        assert!(types.contains(&wanted), "{wanted}: {types:?}");
    }
}

pub(crate) async fn streaming_response(server: &MockServer) {
    stream(server, &json!({})).await;
}

/// The events of a streamed reply: each is in the specification, all are in order, and the last
/// has the whole response.
async fn stream(server: &MockServer, more: &Value) -> Vec<Value> {
    let mut body = json!({"model": "any", "input": "Count to five.", "stream": true});
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    let answer = post(server, "/responses", &body).await;
    assert_eq!(answer.status(), 200);
    let text = answer.text().await.expect("the whole body");
    let mut events = Vec::new();
    for block in text.split_terminator("\n\n") {
        let lines: Vec<_> = block.lines().collect();
        let [event, data] = lines[..] else { panic!("not an event and its data: {block}") };
        let data = data.strip_prefix("data: ").expect("data");
        let value: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(event.strip_prefix("event: "), value["type"].as_str());
        assert_eq!(value["sequence_number"], events.len());
        assert_eq!(schema::event(&value), NOTHING);
        serde_json::from_value::<ResponseStreamEvent>(value.clone()).expect("a typed event");
        events.push(value);
    }
    let last = events.last().expect("an event");
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["status"], "completed");
    events
}

/// The output of a compaction; it is one in full.
pub(crate) async fn compacted(server: &MockServer) -> Value {
    let input = json!([
        message("user", &json!("I am Anna.")),
        message("assistant", &json!("Hello, Anna.")),
    ]);
    let body = json!({"model": "any", "input": input});
    let answer = post(server, "/responses/compact", &body).await;
    assert_eq!(answer.status(), 200);
    let compaction: Value = answer.json().await.expect("JSON");
    assert_eq!(schema::compaction(&compaction), NOTHING);
    let output = compaction["output"].clone();
    let kinds: Vec<_> = output.as_array().expect("items").iter().map(|one| &one["type"]).collect();
    assert_eq!(kinds.last(), Some(&&json!("compaction")), "{kinds:?}");
    output
}

pub(crate) async fn compact_response(server: &MockServer) {
    let mut input = compacted(server).await;
    input.as_array_mut().expect("items").push(message("user", &json!("Who am I?")));
    ask_input(server, input).await;
}

pub(crate) async fn compact_missing_model(server: &MockServer) {
    let body = json!({"input": [message("user", &json!("I am Anna."))]});
    let answer = post(server, "/responses/compact", &body).await;
    assert!([400, 422].contains(&answer.status().as_u16()), "{}", answer.status());
    let error: Value = answer.json().await.expect("JSON");
    assert_eq!(error["error"]["param"], "model");
}

crate::alone![
    basic_response,
    assistant_phase,
    system_prompt,
    image_input,
    multi_turn,
    tool_calling,
    streaming_response,
    compact_response,
    compact_missing_model,
];
