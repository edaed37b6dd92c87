//! What the tests share: a client made of a public `WebSocket` crate.

use std::net::SocketAddr;
use std::sync::Arc;

use conform_mock_server::document::Source;
use conform_mock_server::journal::{Exchange, ModelExchange, Outcome, Route};
use conform_mock_server::script::{Script, load};
use conform_mock_server::server::MockServer;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

pub(crate) fn script(text: &str) -> Script {
    load(&Source::new("script.yaml", text)).unwrap_or_else(|found| {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        panic!("{}", found.join("\n"))
    })
}

pub(crate) async fn start(text: &str) -> MockServer {
    MockServer::builder(script(text)).start().await.expect("a free port")
}

/// A connection.
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// The headers of the handshake's answer.
    pub(crate) headers: HeaderMap,
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket").field("headers", &self.headers).finish_non_exhaustive()
    }
}

/// An upgrade request with these headers beside the necessary ones.
pub(crate) fn upgrade(server: &MockServer, headers: &[(&str, &str)]) -> Request<()> {
    upgrade_at(server.address(), headers)
}

fn upgrade_at(address: SocketAddr, headers: &[(&str, &str)]) -> Request<()> {
    let url = format!("ws://{address}/v1/responses");
    let mut request = url.into_client_request().expect("an address");
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
        request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a value"));
    }
    request
}

/// Asks for a connection; the answer when it is refused.
pub(crate) async fn try_open(
    server: &MockServer,
    headers: &[(&str, &str)],
) -> Result<Socket, Response<Option<Vec<u8>>>> {
    try_open_at(server.address(), headers).await
}

/// The same, of whatever listens there.
pub(crate) async fn try_open_at(
    address: SocketAddr,
    headers: &[(&str, &str)],
) -> Result<Socket, Response<Option<Vec<u8>>>> {
    let stream = TcpStream::connect(address).await.expect("a server listens");
    match client_async(upgrade_at(address, headers), stream).await {
        Ok((stream, response)) => Ok(Socket { stream, headers: response.headers().clone() }),
        Err(Error::Http(response)) => Err(*response),
        Err(other) => panic!("no answer: {other}"),
    }
}

pub(crate) async fn open(server: &MockServer) -> Socket {
    try_open(server, &[]).await.expect("let in")
}

/// A request for a reply that offers the tools `f` and `g`, and has more fields.
pub(crate) fn create(more: &Value) -> Value {
    let tool = |name: &str| json!({"type": "function", "name": name, "parameters": {}});
    let mut body = json!({
        "type": "response.create",
        "model": "test-model",
        "store": false,
        "input": [user("Hello")],
        "tools": [tool("f"), tool("g")],
    });
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

pub(crate) fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": text})
}

pub(crate) fn output(call_id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": "ok"})
}

impl Socket {
    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_raw(Message::text(message.to_string())).await;
    }

    pub(crate) async fn send_raw(&mut self, message: Message) {
        self.stream.send(message).await.expect("the server reads");
    }

    /// The next message of any kind; `None` when the connection is gone.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        self.stream.next().await.and_then(Result::ok)
    }

    /// The next message that is no ping; it is an event.
    pub(crate) async fn event(&mut self) -> Value {
        loop {
            match self.next().await {
                Some(Message::Ping(_)) => {}
                Some(Message::Text(text)) => {
                    return serde_json::from_str(&text).expect("an event is JSON");
                }
                other => panic!("no event: {other:?}"),
            }
        }
    }

    /// The events up to the end of a response, or an error.
    pub(crate) async fn events(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.event().await;
            let is_end = ["response.completed", "response.incomplete", "error"]
                .contains(&event["type"].as_str().expect("a type"));
            events.push(event);
            if is_end {
                return events;
            }
        }
    }

    /// Asks, and reads the answer's events.
    pub(crate) async fn ask(&mut self, more: &Value) -> Vec<Value> {
        self.send(&create(more)).await;
        self.events().await
    }

    /// Asks, and gives the finished response.
    pub(crate) async fn response(&mut self, more: &Value) -> Value {
        let events = self.ask(more).await;
        let last = events.last().expect("an event");
        assert_eq!(last["type"], "response.completed", "{last}");
        last["response"].clone()
    }

    /// Asks, and gives the error frame.
    pub(crate) async fn error(&mut self, more: &Value) -> Value {
        let events = self.ask(more).await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0]["type"], "error");
        events[0].clone()
    }

    /// What comes until the connection ends.
    pub(crate) async fn rest(&mut self) -> Vec<Message> {
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        rest
    }
}

/// The text that a response says.
pub(crate) fn said(response: &Value) -> &str {
    response["output"][0]["content"][0]["text"].as_str().expect("a message")
}

/// The types of events.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
}

/// The model requests of a journal.
pub(crate) fn models(server: &MockServer) -> Vec<ModelExchange> {
    server.journal().snapshot().into_iter().filter_map(model).collect()
}

fn model(exchange: Exchange) -> Option<ModelExchange> {
    match exchange.route {
        Route::Model(model) => Some(model),
        _ => None,
    }
}

/// The effective input of a model request.
pub(crate) fn effective_input(model: &ModelExchange) -> Vec<Value> {
    let effective: &Arc<Value> = model.effective().expect("an effective body");
    effective["input"].as_array().expect("items").clone()
}

/// The label of the turn that was given.
pub(crate) fn label(model: &ModelExchange) -> &str {
    match &model.outcome {
        Outcome::Served(served) => &served.label,
        other => panic!("not served: {other:?}"),
    }
}
