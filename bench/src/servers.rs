//! The two servers. Each prints its address and runs until it is killed.

use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocketUpgrade};
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;
use conform_mock_server::script::{Reply, Script, WhenExhausted};
use conform_mock_server::server::MockServer;
use futures_util::stream;
use tokio::net::TcpListener;

use crate::load::{self, Connection, Transport};

/// The mock with its journal on.
pub async fn mock() -> Result<()> {
    let server = start_mock().await?;
    println!("{}", server.address());
    std::future::pending().await
}

/// A reply of 20 text deltas, so of 28 events, again and again.
async fn start_mock() -> Result<MockServer> {
    let text: String = ('a'..='x').cycle().take(20 * 24).collect();
    let script =
        Script { when_exhausted: WhenExhausted::RepeatLast, ..Script::of([Reply::say(text)]) };
    Ok(MockServer::builder(script).start().await?)
}

/// What the bare server writes: the mock's own headers and events.
struct Canned {
    headers: HeaderMap,
    /// Events as they stand in a stream.
    frames: Vec<Bytes>,
    /// Events as they stand in messages.
    messages: Vec<Utf8Bytes>,
}

/// A bare axum server: it reads the request and writes the mock's bytes event by event.
pub async fn bare() -> Result<()> {
    let app = Router::new()
        .route("/v1/responses", post(canned_stream).get(canned_messages))
        .with_state(canned().await?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await?;
    Ok(())
}

async fn canned_stream(State(canned): State<Arc<Canned>>, _request: Bytes) -> impl IntoResponse {
    let headers = canned.headers.clone();
    let body = stream::unfold((canned, 0), |(canned, next)| async move {
        if next > 0 {
            // Without this, all events would go out in one write.
            tokio::task::yield_now().await;
        }
        let frame = canned.frames.get(next)?.clone();
        Some((Ok::<_, std::convert::Infallible>(frame), (canned, next + 1)))
    });
    (headers, Body::from_stream(body))
}

async fn canned_messages(
    State(canned): State<Arc<Canned>>,
    upgrade: WebSocketUpgrade,
) -> impl IntoResponse {
    upgrade.on_upgrade(|mut socket| async move {
        while let Some(Ok(Message::Text(_))) = socket.recv().await {
            for message in &canned.messages {
                if socket.send(Message::Text(message.clone())).await.is_err() {
                    return;
                }
            }
        }
    })
}

/// Asks a mock once on each transport and takes its answers apart.
async fn canned() -> Result<Arc<Canned>> {
    let server = start_mock().await?;
    let address = server.address().to_string();
    let mut connection = Connection::open(&address, Transport::Socket).await?;
    connection.ask().await?;
    let mut messages = Vec::new();
    for message in load::messages(&connection.answer) {
        messages.push(Utf8Bytes::from(str::from_utf8(message)?));
    }
    let mut connection = Connection::open(&address, Transport::Sse).await?;
    connection.ask().await?;
    let answer = String::from_utf8(connection.answer)?;
    server.shutdown().await;

    let (head, mut body) = answer.split_once("\r\n\r\n").context("a head")?;
    let mut headers = HeaderMap::new();
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        if name != "transfer-encoding" {
            headers.insert(
                axum::http::HeaderName::from_bytes(name.as_bytes())?,
                axum::http::HeaderValue::from_str(value)?,
            );
        }
    }
    let mut frames = Vec::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16)?;
        if size == 0 {
            break;
        }
        frames.push(Bytes::copy_from_slice(&rest.as_bytes()[..size]));
        body = &rest[size + 2..];
    }
    Ok(Arc::new(Canned { headers, frames, messages }))
}
