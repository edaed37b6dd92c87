//! Responses that are asked for again, and the endpoints beside them.

use crate::support::{Answer, Connection, ask, start};
use conform_mock_server::journal::{Lookup, Route, StoredAction};
use insta::assert_snapshot;
use serde_json::{Value, json};

async fn get(connection: &mut Connection, path: &str) -> Answer {
    connection.request("GET", path, &[], b"").await
}

#[tokio::test]
async fn a_response_can_be_read_again_until_it_is_deleted() {
    let server = start("turns: [{say: Hello}, {say: Unstored}]").await;
    let mut connection = Connection::open(&server).await;
    let streamed = connection.post(&ask(&json!({}))).await;
    let response = streamed.events().pop().unwrap()["response"].clone();

    assert_eq!(get(&mut connection, "/v1/responses/resp_1").await.json(), response);
    let again = get(&mut connection, "/v1/responses/resp_1?stream=true").await;
    assert_eq!(again.body, streamed.body);
    let rest = get(&mut connection, "/v1/responses/resp_1?stream=true&starting_after=2").await;
    assert_eq!(rest.events(), streamed.events()[3..]);

    let deleted = connection.request("DELETE", "/v1/responses/resp_1", &[], b"").await;
    assert_eq!(deleted.json(), json!({"id": "resp_1", "object": "response", "deleted": true}));
    let gone = get(&mut connection, "/v1/responses/resp_1").await;
    assert_eq!(
        (gone.status(), &gone.json()["error"]["type"]),
        (404, &json!("invalid_request_error"))
    );

    connection.post(&ask(&json!({"store": false}))).await;
    assert_eq!(get(&mut connection, "/v1/responses/resp_2").await.status(), 404);
    server.assert_finished();
    let routes: Vec<_> = server.journal().snapshot().into_iter().map(|one| one.route).collect();
    let action = StoredAction::Delete;
    assert_eq!(routes[4], Route::Lookup(Lookup::Stored { id: "resp_1".to_owned(), action }));
}

#[tokio::test]
async fn only_a_background_response_can_be_cancelled() {
    let server = start("turns: [{say: Hello}, {say: Hello}]").await;
    let mut connection = Connection::open(&server).await;
    connection.post(&ask(&json!({"stream": false}))).await;
    connection.post(&ask(&json!({"stream": false, "background": true}))).await;
    let cancel = |id: &str| format!("/v1/responses/{id}/cancel");
    let refused = connection.request("POST", &cancel("resp_1"), &[], b"").await;
    assert_eq!(refused.status(), 400);
    let cancelled = connection.request("POST", &cancel("resp_2"), &[], b"").await;
    assert_eq!(cancelled.json()["status"], "cancelled");
    let read = get(&mut connection, "/v1/responses/resp_2").await;
    assert_eq!(read.json()["status"], "cancelled");
}

#[tokio::test]
async fn the_input_of_a_response_is_listed_in_pages() {
    let server = start("turns: [{say: Hello}, {say: Hello}]").await;
    let mut connection = Connection::open(&server).await;
    connection
        .post(&ask(&json!({"input": [
            {"role": "user", "content": "Hi"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "fc_x"},
            {"type": "function_call_output", "call_id": "c", "output": "o"},
        ]})))
        .await;
    let list = get(&mut connection, "/v1/responses/resp_1/input_items?order=asc").await;
    assert_snapshot!(serde_json::to_string_pretty(&list.json()).unwrap());
    let ids = |answer: &Answer| -> Vec<String> {
        let data = answer.json()["data"].as_array().unwrap().clone();
        data.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = get(&mut connection, "/v1/responses/resp_1/input_items?limit=2").await;
    assert_eq!(ids(&first), ["fco_1_in3", "fc_x"]);
    assert_eq!(first.json()["has_more"], true);
    let second = get(&mut connection, "/v1/responses/resp_1/input_items?limit=2&after=fc_x").await;
    assert_eq!(ids(&second), ["msg_1_in1"]);
    assert_eq!(second.json()["has_more"], false);
    for wrong in ["limit=0", "limit=101", "order=up", "after=nothing"] {
        let path = format!("/v1/responses/resp_1/input_items?{wrong}");
        assert_eq!(get(&mut connection, &path).await.status(), 400, "{wrong}");
    }
    connection.post(&ask(&json!({"input": "Plain"}))).await;
    let plain = get(&mut connection, "/v1/responses/resp_2/input_items").await;
    assert_eq!(
        plain.json()["data"][0]["content"],
        json!([{"type": "input_text", "text": "Plain"}])
    );
}

#[tokio::test]
async fn tokens_are_counted_and_histories_compacted_without_a_turn() {
    let server = start("turns: [{say: Hello}]").await;
    let mut connection = Connection::open(&server).await;
    let counted =
        connection.post_to("/v1/responses/input_tokens", &json!({"input": "12345678"})).await;
    assert_eq!(counted.json(), json!({"object": "response.input_tokens", "input_tokens": 2}));

    connection.post(&ask(&json!({"input": "First"}))).await;
    let compact = json!({
        "model": "m",
        "previous_response_id": "resp_1",
        "input": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Second"},
            {"type": "function_call_output", "call_id": "c", "output": "o"},
        ],
    });
    let compacted = connection.post_to("/v1/responses/compact", &compact).await;
    assert_snapshot!(serde_json::to_string_pretty(&compacted.json()).unwrap());

    for (body, code) in [
        (json!({"input": "x"}), "missing_required_parameter"),
        (json!({"model": "m", "previous_response_id": "resp_9"}), "previous_response_not_found"),
    ] {
        let refused = connection.post_to("/v1/responses/compact", &body).await;
        assert_eq!((refused.status(), &refused.json()["error"]["code"]), (400, &json!(code)));
    }
    server.assert_finished();
}

#[tokio::test]
async fn a_ring_of_responses_is_no_history() {
    let server = start("turns: [{say: Hello}]").await;
    let mut connection = Connection::open(&server).await;
    connection.post(&ask(&json!({"previous_response_id": "resp_1"}))).await;
    let body = json!({"model": "m", "previous_response_id": "resp_1"});
    assert_eq!(connection.post_to("/v1/responses/compact", &body).await.status(), 400);
}

#[tokio::test]
async fn models_have_a_tag_and_are_shown_as_codex_asks() {
    let server = start("turns: []").await;
    let mut connection = Connection::open(&server).await;
    let plain = get(&mut connection, "/v1/models").await;
    assert!(plain.head.contains("etag: \"conform-models-1\"\r\n"));
    let codex = get(&mut connection, "/backend-api/codex/models?client_version=0.171.0").await;
    assert!(codex.head.contains("etag: \"conform-models-1\"\r\n"));
    let model: &Value = &codex.json()["models"][0];
    for required in [
        "slug",
        "display_name",
        "supported_reasoning_levels",
        "shell_type",
        "visibility",
        "supported_in_api",
        "priority",
        "support_verbosity",
        "truncation_policy",
        "experimental_supported_tools",
        "base_instructions",
    ] {
        assert!(model.get(required).is_some(), "{required}");
    }
}
