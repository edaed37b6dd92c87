//! What the integration tests share: a raw HTTP/1.1 client that shows every byte, and a parser for
//! server-sent events that knows nothing of the server's own code.

use std::fmt::Write as _;

use conform_mock_server::document::Source;
use conform_mock_server::journal::{Exchange, ModelExchange, Route};
use conform_mock_server::script::{Script, load};
use conform_mock_server::server::MockServer;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A script from its YAML form.
pub(crate) fn script(text: &str) -> Script {
    load(&Source::new("script.yaml", text)).unwrap_or_else(|found| {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        panic!("{}", found.join("\n"))
    })
}

/// A server for a script in its YAML form.
pub(crate) async fn start(text: &str) -> MockServer {
    MockServer::builder(script(text)).start().await.expect("a free port")
}

/// A request body that asks for a stream, offers the tools `f` and `g`, and has more fields.
pub(crate) fn ask(more: &Value) -> Value {
    let tool = |name: &str| serde_json::json!({"type": "function", "name": name, "parameters": {}});
    let mut body = serde_json::json!({
        "model": "test-model",
        "stream": true,
        "input": "Hello",
        "tools": [tool("f"), tool("g")],
    });
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

/// An answer, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Status line and headers, with the blank line.
    pub(crate) head: String,
    /// The body without its transfer coding.
    pub(crate) body: Vec<u8>,
    /// The chunks of a chunked body.
    pub(crate) chunks: Vec<Vec<u8>>,
}

impl Connection {
    pub(crate) async fn open(server: &MockServer) -> Self {
        let stream = TcpStream::connect(server.address()).await.expect("the server listens");
        Self { stream: BufReader::new(stream) }
    }

    /// Sends a request and leaves its answer unread.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: mock\r\n");
        for (name, value) in headers {
            let _ = write!(request, "{name}: {value}\r\n");
        }
        let _ = write!(request, "content-length: {}\r\n\r\n", body.len());
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        self.stream.write_all(&bytes).await.expect("the server reads");
    }

    pub(crate) async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.send(method, path, headers, body).await;
        self.read(method).await
    }

    /// Posts a body to the Responses endpoint.
    pub(crate) async fn post(&mut self, body: &Value) -> Answer {
        self.request("POST", "/v1/responses", &[], body.to_string().as_bytes()).await
    }

    /// Posts a body to a path.
    pub(crate) async fn post_to(&mut self, path: &str, body: &Value) -> Answer {
        // The header that Messages requests must have; other wires do not look at it.
        let version = [("anthropic-version", "2023-06-01")];
        let headers = if path.contains("/messages") { version.as_slice() } else { &[] };
        self.request("POST", path, headers, body.to_string().as_bytes()).await
    }

    /// Reads the answer to a request with this method.
    pub(crate) async fn read(&mut self, method: &str) -> Answer {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.stream.read_line(&mut head).await.expect("an answer");
            assert_ne!(read, 0, "the connection was closed after: {head:?}");
        }
        let header = |name: &str| {
            let line = head.lines().find(|line| line.starts_with(&format!("{name}: ")))?;
            line.split_once(": ").map(|(_, value)| value.to_owned())
        };
        let mut answer = Answer { head: head.clone(), body: Vec::new(), chunks: Vec::new() };
        if method == "HEAD" || answer.status() == 204 {
            return answer;
        }
        if header("transfer-encoding").as_deref() == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                answer.body.extend_from_slice(&chunk);
                answer.chunks.push(chunk);
            }
        } else {
            let length = header("content-length").expect("a length").parse().expect("a number");
            answer.body.resize(length, 0);
            self.stream.read_exact(&mut answer.body).await.expect("the whole body");
        }
        answer
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut size = String::new();
        self.stream.read_line(&mut size).await.expect("a chunk");
        let size = usize::from_str_radix(size.trim_end(), 16).expect("a chunk size");
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).await.expect("a whole chunk");
        assert_eq!(chunk.split_off(size), b"\r\n");
        (size > 0).then_some(chunk)
    }
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).expect("a status").parse().expect("a number")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a text body")
    }

    /// The head and the body, with plain line ends, as snapshots show them.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.head.replace("\r\n", "\n"), self.text())
    }

    /// The head and the body, a JSON object, in many lines.
    pub(crate) fn shown_pretty(&self) -> String {
        let body = serde_json::to_string_pretty(&self.json()).expect("a JSON body");
        format!("{}{body}", self.head.replace("\r\n", "\n"))
    }

    /// The events as they are parsed from the stream in pieces of these lengths, again and again.
    pub(crate) fn read_in_pieces(&self, lengths: &[usize]) -> Vec<SseEvent> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        let mut rest = self.body.as_slice();
        for length in lengths.iter().cycle() {
            let (piece, after) = rest.split_at(rest.len().min(*length));
            events.extend(parser.feed(piece));
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        assert!(parser.is_at_rest(), "the stream ends inside an event");
        events
    }

    /// The data of all events.
    pub(crate) fn events(&self) -> Vec<Value> {
        let mut parser = SseParser::default();
        let events = parser.feed(&self.body);
        assert!(parser.is_at_rest(), "the stream ends inside an event");
        events.into_iter().map(|event| event.data()).collect()
    }

    /// The items of the last event's response.
    pub(crate) fn output(&self) -> Value {
        let events = self.events();
        let last = events.last().expect("an event");
        assert_eq!(last["type"], "response.completed", "{last}");
        last["response"]["output"].clone()
    }

    /// The text of the first message, streamed or whole.
    pub(crate) fn said(&self) -> String {
        let output =
            if self.chunks.is_empty() { self.json()["output"].clone() } else { self.output() };
        output[0]["content"][0]["text"].as_str().expect("a message").to_owned()
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) event: String,
    pub(crate) data: String,
}

impl SseEvent {
    pub(crate) fn data(&self) -> Value {
        serde_json::from_str(&self.data).expect("data is JSON")
    }
}

/// Reads events from any pieces of a stream, by the rules of the HTML standard that matter here.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    pending: Vec<u8>,
    event: String,
    data: Vec<String>,
}

impl SseParser {
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Vec<SseEvent> {
        self.pending.extend_from_slice(piece);
        let mut events = Vec::new();
        while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            let line = std::str::from_utf8(&line[..end]).expect("lines are UTF-8");
            match line.split_once(": ") {
                Some(("event", name)) => name.clone_into(&mut self.event),
                Some(("data", data)) => self.data.push(data.to_owned()),
                _ if line.is_empty() => events.push(SseEvent {
                    event: std::mem::take(&mut self.event),
                    data: std::mem::take(&mut self.data).join("\n"),
                }),
                _ => panic!("a line of another kind: {line:?}"),
            }
        }
        events
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.pending.is_empty() && self.event.is_empty() && self.data.is_empty()
    }
}

/// The model part of an exchange.
pub(crate) fn model(exchange: &Exchange) -> &ModelExchange {
    match &exchange.route {
        Route::Model(model) => model,
        other => panic!("not a model request: {other:?}"),
    }
}
