//! The load: connections that send one request after another and read each answer to its end.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The end of a chunked body. Nothing in between looks like it: JSON has no bare line ends.
const END: &[u8] = b"\r\n0\r\n\r\n";

/// The request that all connections send.
pub fn request() -> Vec<u8> {
    let body = serde_json::json!({
        "model": "bench",
        "stream": true,
        "instructions": "Answer briefly.",
        "input": [{"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "What is in this folder?"},
        ]}],
        "tools": [{"type": "function", "name": "shell", "description": "Runs a command.",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
            "strict": false}],
        "store": false,
    })
    .to_string();
    let length = body.len();
    format!(
        "POST /v1/responses HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
         authorization: Bearer none\r\naccept: text/event-stream\r\ncontent-length: {length}\r\n\
         \r\n{body}"
    )
    .into_bytes()
}

/// What was done in which time.
pub struct Load {
    pub requests: f64,
    pub seconds: f64,
}

/// Sends requests over so many connections.
pub async fn run(address: &str, connections: usize, time: Duration) -> Result<Load> {
    let request = request();
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        answer(&mut stream, &request, &mut Vec::new()).await?;
        open.push(stream);
    }
    let start = Instant::now();
    let mut clients = JoinSet::new();
    for mut stream in open {
        let request = request.clone();
        clients.spawn(async move {
            let mut count = 0_u32;
            let mut buffer = Vec::with_capacity(64 * 1024);
            while start.elapsed() < time {
                answer(&mut stream, &request, &mut buffer).await?;
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

/// Sends a request and reads the answer into the buffer.
pub async fn answer(stream: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> Result<()> {
    stream.write_all(request).await?;
    buffer.clear();
    while !buffer.ends_with(END) {
        ensure!(stream.read_buf(buffer).await? > 0, "the server closed the connection");
    }
    ensure!(buffer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(buffer));
    Ok(())
}
