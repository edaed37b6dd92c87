//! A client that takes an answer as it comes, whole or not, and says how it ended.

use std::io::ErrorKind;

use conform_mock_server::server::MockServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The model endpoints of the wires.
pub(crate) const PATHS: [&str; 3] = ["/v1/responses", "/v1/chat/completions", "/v1/messages"];

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It was closed after a whole answer.
    Whole,
    /// It was closed inside an answer, or before it.
    Closed,
    /// It was reset.
    Reset,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Got {
    /// Every byte.
    pub(crate) bytes: Vec<u8>,
    /// Status line and headers, with the blank line; empty when they did not all come.
    pub(crate) head: String,
    /// The chunks of the body, or all of it in one.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) end: End,
}

impl Got {
    pub(crate) fn body(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body()).into_owned()
    }

    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).expect("a status").parse().expect("a number")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body()).expect("a JSON body")
    }

    fn parse(bytes: Vec<u8>, was_reset: bool) -> Self {
        let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, rest) = match head_end {
            None => (String::new(), &[][..]),
            Some(at) => {
                let (head, rest) = bytes.split_at(at + 4);
                (String::from_utf8(head.to_vec()).expect("an ASCII head"), rest)
            }
        };
        let (chunks, is_whole) = if head.contains("transfer-encoding: chunked") {
            chunks(rest)
        } else {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.map(|length| length.parse::<usize>().expect("a number"));
            (vec![rest.to_vec()], length == Some(rest.len()))
        };
        let end = match (was_reset, is_whole) {
            (true, _) => End::Reset,
            (false, true) => End::Whole,
            (false, false) => End::Closed,
        };
        Self { bytes, head, chunks, end }
    }
}

/// The chunks that came, and whether the last of all did.
fn chunks(mut rest: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut chunks = Vec::new();
    while let Some(at) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..at]).expect("an ASCII size");
        let size = usize::from_str_radix(size, 16).expect("a chunk size");
        if size == 0 {
            return (chunks, true);
        }
        chunks.push(rest[at + 2..at + 2 + size].to_vec());
        rest = &rest[at + 4 + size..];
    }
    (chunks, false)
}

/// Posts a body and reads until the connection ends.
pub(crate) async fn post(server: &MockServer, path: &str, body: &Value) -> Got {
    let mut stream = send(server, path, body).await;
    let mut bytes = Vec::new();
    let was_reset = match stream.read_to_end(&mut bytes).await {
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => true,
        Err(error) => panic!("{error}"),
    };
    Got::parse(bytes, was_reset)
}

/// Posts a body and leaves the answer unread. What a wire other than Responses needs in it beside
/// is added.
pub(crate) async fn send(server: &MockServer, path: &str, body: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).await.expect("the server listens");
    let mut body = body.clone();
    if !path.contains("/responses") {
        body["messages"] = json!([{"role": "user", "content": "Hello"}]);
        body["max_tokens"] = json!(100);
    }
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: mock\r\nanthropic-version: 2023-06-01\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    stream
}

/// Reads until the text has come.
pub(crate) async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains(text) {
        let mut piece = [0; 1024];
        let count = stream.read(&mut piece).await.expect("an answer");
        assert_ne!(count, 0, "`{text}` never came: {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..count]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
