//! The load: connections that send one request after another and read each answer to its end.

use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::{Map, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// How requests and answers travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A POST for each request; the answer is a stream of server-sent events.
    Sse,
    /// A message for each request on one `WebSocket`; the answer is a message for each event.
    Socket,
}

impl Transport {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sse => "sse",
            Self::Socket => "socket",
        }
    }
}

impl FromStr for Transport {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "sse" => Ok(Self::Sse),
            "socket" => Ok(Self::Socket),
            other => bail!("unknown transport `{other}`; there are `sse` and `socket`"),
        }
    }
}

/// What was done in which time.
pub struct Load {
    pub requests: f64,
    pub seconds: f64,
}

/// Sends requests over so many connections.
pub async fn run(
    address: &str,
    transport: Transport,
    connections: usize,
    time: Duration,
) -> Result<Load> {
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut connection = Connection::open(address, transport).await?;
        connection.ask().await?;
        open.push(connection);
    }
    let start = Instant::now();
    let mut clients = JoinSet::new();
    for mut connection in open {
        clients.spawn(async move {
            let mut count = 0_u32;
            while start.elapsed() < time {
                connection.ask().await?;
                count += 1;
            }
            anyhow::Ok(count)
        });
    }
    let mut total = 0;
    while let Some(count) = clients.join_next().await {
        total += count??;
    }
    Ok(Load { requests: f64::from(total), seconds: start.elapsed().as_secs_f64() })
}

/// One connection, which sends the same request again and again.
pub struct Connection {
    stream: TcpStream,
    transport: Transport,
    request: Vec<u8>,
    /// The last answer.
    pub answer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: &str, transport: Transport) -> Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let request = match transport {
            Transport::Sse => post(),
            Transport::Socket => {
                upgrade(&mut stream).await?;
                message()
            }
        };
        Ok(Self { stream, transport, request, answer: Vec::with_capacity(64 * 1024) })
    }

    /// Sends the request and reads the answer.
    pub async fn ask(&mut self) -> Result<()> {
        let Self { stream, transport, request, answer } = self;
        stream.write_all(request).await?;
        answer.clear();
        match transport {
            Transport::Sse => read_stream(stream, answer).await,
            Transport::Socket => read_messages(stream, answer).await,
        }
    }
}

/// The end of a chunked body. Nothing in between looks like it: JSON has no bare line ends.
const END: &[u8] = b"\r\n0\r\n\r\n";

async fn read_stream(stream: &mut TcpStream, answer: &mut Vec<u8>) -> Result<()> {
    while !answer.ends_with(END) {
        ensure!(stream.read_buf(answer).await? > 0, "the server closed the connection");
    }
    ensure!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(answer));
    Ok(())
}

/// Messages up to the one that completes the response.
async fn read_messages(stream: &mut TcpStream, answer: &mut Vec<u8>) -> Result<()> {
    const LAST: &[u8] = br#"{"type":"response.completed""#;
    let mut begin = 0;
    loop {
        while let Some((data, end)) = frame(&answer[begin..]) {
            let text = &answer[begin + data..begin + end];
            ensure!(answer[begin] == 0x81, "no text: {}", String::from_utf8_lossy(text));
            if text.starts_with(LAST) {
                return Ok(());
            }
            begin += end;
        }
        ensure!(stream.read_buf(answer).await? > 0, "the server closed the connection");
    }
}

/// Where the data of an unmasked frame begins and ends, if all of it is there (RFC 6455, section
/// 5.2).
fn frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let (data, length) = match *bytes.get(1)? {
        126 => (4, u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)),
        short => (2, u64::from(short)),
    };
    let end = data + usize::try_from(length).ok()?;
    (end <= bytes.len()).then_some((data, end))
}

/// The messages' data in an answer.
pub fn messages(answer: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = answer;
    while let Some((data, end)) = frame(rest) {
        found.push(&rest[data..end]);
        rest = &rest[end..];
    }
    found
}

async fn upgrade(stream: &mut TcpStream) -> Result<()> {
    let request = "GET /v1/responses HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer none\r\n\
                   connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                   sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        ensure!(stream.read_buf(&mut head).await? > 0, "the server closed the connection");
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    ensure!(head.starts_with("HTTP/1.1 101 "), "{head}");
    Ok(())
}

fn post() -> Vec<u8> {
    let mut body = body();
    body.insert("stream".to_owned(), Value::Bool(true));
    let body = Value::Object(body).to_string();
    let length = body.len();
    format!(
        "POST /v1/responses HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
         authorization: Bearer none\r\naccept: text/event-stream\r\ncontent-length: {length}\r\n\
         \r\n{body}"
    )
    .into_bytes()
}

fn message() -> Vec<u8> {
    let mut body = body();
    body.insert("type".to_owned(), Value::String("response.create".to_owned()));
    let body = Value::Object(body).to_string();
    // A text with a mask that changes nothing.
    let mut frame = vec![0x81, 0x80 | 126];
    frame.extend(u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(body.as_bytes());
    frame
}

/// The request that all connections send.
fn body() -> Map<String, Value> {
    let body = serde_json::json!({
        "model": "bench",
        "instructions": "Answer briefly.",
        "input": [{"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "What is in this folder?"},
        ]}],
        "tools": [{"type": "function", "name": "shell", "description": "Runs a command.",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
            "strict": false}],
        "store": false,
    });
    match body {
        Value::Object(body) => body,
        _ => Map::new(),
    }
}
