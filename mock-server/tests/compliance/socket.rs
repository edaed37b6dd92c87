//! The checks over a WebSocket.

use async_openai::types::responses::ResponseStreamEvent;
use conform_mock_server::server::MockServer;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::http::{compacted, message};
use crate::{schema, start};

struct Socket {
    stream: WebSocketStream<TcpStream>,
}

impl Socket {
    async fn open(server: &MockServer) -> Self {
        let stream = TcpStream::connect(server.address()).await.expect("the server listens");
        let url = format!("{}/responses", server.base_url().replace("http://", "ws://"));
        let (stream, _) = client_async(url, stream).await.expect("let in");
        Self { stream }
    }

    /// The last event of the answer to a request with these fields; all events are valid.
    async fn last(&mut self, more: &Value) -> Value {
        let mut body = json!({
            "type": "response.create",
            "model": "any",
            "store": false,
            "input": [message("user", &json!("Say hello."))],
        });
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        self.stream.send(Message::text(body.to_string())).await.expect("the server reads");
        let mut count = 0;
        loop {
            let frame = self.stream.next().await.expect("an event").expect("a frame");
            let event: Value = serde_json::from_str(frame.to_text().expect("text")).expect("JSON");
            if event["type"] == "error" {
                return event;
            }
            assert_eq!(event["sequence_number"], count);
            count += 1;
            assert_eq!(schema::event(&event), Vec::<String>::new());
            serde_json::from_value::<ResponseStreamEvent>(event.clone()).expect("a typed event");
            if event["type"] == "response.completed" {
                return event;
            }
        }
    }

    /// The completed response to a request with these fields.
    async fn ask(&mut self, more: &Value) -> Value {
        let last = self.last(more).await;
        assert_eq!(last["type"], "response.completed", "{last}");
        let response = &last["response"];
        assert_eq!(response["status"], "completed");
        assert_ne!(response["output"], json!([]));
        response.clone()
    }

    /// The error in the answer to a request with these fields, in the form of the specification.
    async fn refused(&mut self, more: &Value) -> Value {
        let frame = self.last(more).await;
        assert_eq!(frame["type"], "error", "{frame}");
        let status = frame["status"].as_u64().expect("a status");
        assert!((400..600).contains(&status), "{status}");
        assert!(frame["error"]["message"].is_string(), "{frame}");
        assert!(frame["error"]["code"].is_string() || frame["error"]["code"].is_null(), "{frame}");
        frame["error"].clone()
    }

    async fn not_found(&mut self, id: &Value) {
        let more =
            json!({"previous_response_id": id, "input": [message("user", &json!("Go on."))]});
        assert_eq!(self.refused(&more).await["code"], "previous_response_not_found");
    }
}

pub(crate) async fn websocket_response(server: &MockServer) {
    Socket::open(server).await.ask(&json!({})).await;
}

pub(crate) async fn websocket_sequential_responses(server: &MockServer) {
    let mut socket = Socket::open(server).await;
    let first = socket.ask(&json!({})).await;
    let second = socket.ask(&json!({})).await;
    assert_ne!(first["id"], second["id"]);
}

pub(crate) async fn websocket_continuation(server: &MockServer) {
    let mut socket = Socket::open(server).await;
    let first = socket.ask(&json!({})).await;
    let second = socket.ask(&json!({"previous_response_id": first["id"]})).await;
    assert_eq!(second["previous_response_id"], first["id"]);
}

pub(crate) async fn websocket_reconnect_store_false_recovery(server: &MockServer) {
    let first = Socket::open(server).await.ask(&json!({})).await;
    let mut next = Socket::open(server).await;
    next.not_found(&first["id"]).await;
    // The same socket takes the whole history.
    let mut input = vec![message("user", &json!("Say hello."))];
    input.extend(first["output"].as_array().expect("items").iter().cloned());
    input.push(message("user", &json!("Go on.")));
    next.ask(&json!({ "input": input })).await;
}

pub(crate) async fn websocket_previous_response_not_found(server: &MockServer) {
    Socket::open(server).await.not_found(&json!("resp_that_never_was")).await;
}

pub(crate) async fn websocket_failed_continuation_evicts_cache(server: &MockServer) {
    let mut socket = Socket::open(server).await;
    let first = socket.ask(&json!({})).await;
    let orphan =
        json!({"type": "function_call_output", "call_id": "call_that_never_was", "output": "x"});
    socket.refused(&json!({"previous_response_id": first["id"], "input": [orphan]})).await;
    socket.not_found(&first["id"]).await;
}

pub(crate) async fn websocket_compact_new_chain(server: &MockServer) {
    let mut input = compacted(server).await;
    input.as_array_mut().expect("items").push(message("user", &json!("Who am I?")));
    let mut socket = Socket::open(server).await;
    let first = socket.ask(&json!({ "input": input })).await;
    socket.ask(&json!({"previous_response_id": first["id"]})).await;
}

crate::alone![
    websocket_response,
    websocket_sequential_responses,
    websocket_continuation,
    websocket_reconnect_store_false_recovery,
    websocket_previous_response_not_found,
    websocket_failed_continuation_evicts_cache,
    websocket_compact_new_chain,
];
