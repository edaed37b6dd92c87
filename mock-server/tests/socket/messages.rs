//! What clients send, and what they get.

use crate::support::{create, models, open, said, start, types};
use conform_mock_server::journal::{Outcome, Route};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn a_reply_has_the_events_of_http_without_their_frames() {
    let server = start("turns: [{say: Hello there}]\nwhen_exhausted: repeat-last").await;
    let events = open(&server).await.ask(&json!({"stream": true})).await;
    let body = json!({
        "model": "test-model", "store": false, "stream": true,
        "input": create(&json!({}))["input"], "tools": create(&json!({}))["tools"],
    });
    let url = format!("{}/responses", server.base_url());
    let text = reqwest::Client::new()
        .post(url)
        .json(&body)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap()
        .replace("_1r1", "_1");
    let over_http: Vec<serde_json::Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(events, over_http);
}

#[tokio::test]
async fn a_replys_headers_come_in_an_event_of_their_own() {
    let server = start("turns: [{say: a, headers: {x-codex-turn-state: A}}]").await;
    let events = open(&server).await.ask(&json!({})).await;
    let metadata = json!({"type": "response.metadata", "headers": {"x-codex-turn-state": "A"}});
    assert_eq!(events[0], metadata);
    assert_eq!(types(&events)[1..3], ["response.created", "response.in_progress"]);
}

#[tokio::test]
async fn messages_of_other_types_are_kept_and_get_no_answer() {
    let server = start("turns: [{say: a}]").await;
    let mut socket = open(&server).await;
    socket.send(&json!({"type": "response.processed", "response_id": "resp_0"})).await;
    socket.send(&json!({"type": "something.new"})).await;
    assert_eq!(said(&socket.response(&json!({})).await), "a");
    let journal = server.journal().snapshot();
    let kinds: Vec<_> = journal
        .iter()
        .filter_map(|exchange| match &exchange.route {
            Route::SocketMessage { connection: 1, kind } => Some(kind.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["response.processed", "something.new"]);
    assert_eq!(journal[1].body, r#"{"type":"response.processed","response_id":"resp_0"}"#);
    assert_eq!(journal[1].path, "/v1/responses");
    server.assert_finished();
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_and_the_connection_stays() {
    let server = start("turns: [{say: a}]").await;
    let mut socket = open(&server).await;
    let broken = [
        Message::text("{"),
        Message::text("[]"),
        Message::text(r#"{"model":"m"}"#),
        Message::text(r#"{"type":"response.create"}"#),
        Message::binary(create(&json!({})).to_string()),
        Message::text(create(&json!({"background": true})).to_string()),
        Message::text(create(&json!({"generate": "no"})).to_string()),
        Message::text(create(&json!({"previous_response_id": 3})).to_string()),
        Message::text(create(&json!({"stream_id": 3})).to_string()),
    ];
    let count = broken.len();
    let mut seen = Vec::new();
    for message in broken {
        socket.send_raw(message).await;
        let error = socket.event().await;
        assert_eq!((&error["type"], &error["status"]), (&json!("error"), &json!(400)));
        seen.push(format!("{} | {}", error["error"]["param"], error["error"]["message"]));
    }
    insta::assert_snapshot!(seen.join("\n"));
    assert_eq!(said(&socket.response(&json!({})).await), "a");
    let malformed = models(&server)
        .iter()
        .filter(|model| matches!(model.outcome, Outcome::Malformed { .. }))
        .count();
    assert_eq!(malformed, count);
}

#[tokio::test]
async fn a_ping_is_answered_while_a_reply_waits() {
    let server = start("turns: [{say: a, gate: later}]").await;
    let mut socket = open(&server).await;
    socket.send(&create(&json!({}))).await;
    server.journal().wait_until(|journal| journal.len() == 2).await;
    socket.send_raw(Message::Ping(b"are you there".to_vec().into())).await;
    assert_eq!(socket.next().await, Some(Message::Pong(b"are you there".to_vec().into())));
    server.gates().open("later");
    assert_eq!(said(&socket.events().await.last().unwrap()["response"]), "a");
}

#[tokio::test]
async fn a_large_message_is_taken() {
    let server = start("turns: [{say: a}]").await;
    let mut socket = open(&server).await;
    let long = "x".repeat(20 * 1024 * 1024);
    assert_eq!(said(&socket.response(&json!({"input": long})).await), "a");
}

#[tokio::test]
async fn the_frames_of_one_script_and_requests_are_the_same_twice() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let server = start(
            "turns: [{call: {name: f, arguments: {}}}, {say: b}]
connections: [{fault: {drop: {after_event: 5}}}]",
        )
        .await;
        let mut frames = Vec::new();
        for _ in 0..2 {
            let mut socket = open(&server).await;
            socket.ask(&json!({"generate": false})).await;
            socket.send(&create(&json!({}))).await;
            socket.send(&create(&json!({}))).await;
            socket.send_raw(Message::Close(None)).await;
            frames.extend(socket.rest().await);
        }
        runs.push(frames);
    }
    assert_eq!(runs[0], runs[1]);
}
