//! Questions beside the conversation.

use conform_mock_server::journal::{Lookup, Route};
use serde_json::{Value, json};

use crate::support::{Connection, start};

const ANTHROPIC: [(&str, &str); 1] = [("anthropic-version", "2023-06-01")];

#[tokio::test]
async fn models_are_shown_in_the_form_of_the_api_that_is_asked() {
    let server = start("turns: [{say: Hello}]").await;
    let mut connection = Connection::open(&server).await;

    let openai = |id: &str| json!({"id": id, "object": "model", "created": 1_767_225_600, "owned_by": "conform"});
    let list = connection.request("GET", "/v1/models?limit=1", &[], b"").await;
    assert_eq!(list.json(), json!({"object": "list", "data": [openai("mock-model")]}));
    let one = connection.request("GET", "/api/v1/models/vendor/m", &[], b"").await;
    assert_eq!(one.json(), openai("vendor/m"));

    let anthropic = |id: &str| {
        json!({
            "type": "model",
            "id": id,
            "display_name": id,
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
        })
    };
    let list = connection.request("GET", "/v1/models", &ANTHROPIC, b"").await;
    assert_eq!(
        list.json(),
        json!({
            "data": [anthropic("mock-model")],
            "has_more": false,
            "first_id": "mock-model",
            "last_id": "mock-model",
        })
    );
    let one = connection.request("GET", "/v1/models/m", &ANTHROPIC, b"").await;
    assert_eq!(one.json(), anthropic("m"));

    let routes: Vec<_> =
        server.journal().snapshot().into_iter().map(|exchange| exchange.route).collect();
    let by_id = |id: &str| Route::Lookup(Lookup::Model { id: id.to_owned() });
    let listed = || Route::Lookup(Lookup::Models);
    assert_eq!(routes, [listed(), by_id("vendor/m"), listed(), by_id("m")]);
}

#[tokio::test]
async fn tokens_are_counted_by_the_texts_and_take_no_turn() {
    let server = start("turns: [{say: Hello}]").await;
    let mut connection = Connection::open(&server).await;
    let mut count = async |body: Value| {
        connection.post_to("/v1/messages/count_tokens", &body).await.json()["input_tokens"].clone()
    };

    let said = |text: &str| json!({"model": "m", "messages": [{"role": "user", "content": text}]});
    assert_eq!(count(said("")).await, 1);
    assert_eq!(count(said("four")).await, 1);
    assert_eq!(count(said("fünf!")).await, 2);
    // The text counts, and not how it is put.
    let blocks = json!([{"text": "fünf!", "type": "text"}]);
    assert_eq!(count(json!({"messages": [{"content": blocks, "role": "user"}]})).await, 2);
    // 4 of the system prompt, 8 of a tool: its description, a line end and its schema.
    let tools = json!([{"name": "f", "description": "reads", "input_schema": {}}]);
    assert_eq!(count(json!({"system": "four", "messages": [], "tools": tools})).await, 3);

    for body in [&b"{"[..], b"[]"] {
        let refused = connection.request("POST", "/messages/count_tokens", &[], body).await;
        assert_eq!(refused.status(), 400);
        assert_eq!(refused.json()["error"]["type"], "invalid_request_error");
    }
    assert_eq!(server.unused_turns().len(), 1);
    let exchanges = server.journal().snapshot();
    assert!(exchanges.iter().all(|entry| entry.route == Route::Lookup(Lookup::CountTokens)));
    assert_eq!(exchanges.len(), 7);
}
