//! One connection after its handshake: what comes in, and the requests in the order of their
//! coming.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use http::request::Parts;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::reply::{Ended, Replying};
use crate::journal::{Exchange, Route};
use crate::server::answer::exchange;
use crate::server::state::{BODY_LIMIT, State};

/// The stream of a connection.
pub(super) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What is read at once; the buffer is there for the whole life of a connection.
const READ_BUFFER: usize = 16 * 1024;

/// A connection that was let in.
#[derive(Debug)]
pub(in crate::server) struct Conversation {
    upgrading: OnUpgrade,
    head: Parts,
    connection: u64,
}

/// A message that wants an answer.
#[derive(Debug)]
pub(super) struct Incoming {
    /// When it came, since the server's start.
    pub(super) received: Duration,
    pub(super) bytes: Bytes,
    /// The message, or why it is none.
    pub(super) json: Result<Value, String>,
}

impl Conversation {
    pub(super) fn new(upgrading: OnUpgrade, head: Parts, connection: u64) -> Self {
        Self { upgrading, head, connection }
    }

    /// Serves the connection to its end.
    pub(in crate::server) async fn run(self, state: &State) {
        // An error means that the client left before the protocol was changed.
        let Ok(upgraded) = self.upgrading.await else { return };
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .max_message_size(Some(BODY_LIMIT))
            .max_frame_size(Some(BODY_LIMIT));
        let stream = TokioIo::new(upgraded);
        let socket = Socket::from_raw_socket(stream, Role::Server, Some(config)).await;
        let (sink, stream) = socket.split();
        let (queue, waiting) = mpsc::unbounded_channel();
        let replying = Replying::new(state, &self.head, self.connection, sink);
        // The client is listened to all the time, so that pings are answered and its leaving is
        // noticed while a reply waits.
        let mut receiving = pin!(receive(state, &self.head, self.connection, stream, queue));
        let ended = tokio::select! {
            () = &mut receiving => return,
            ended = replying.run(waiting) => ended,
        };
        match ended {
            // The client answers the close frame, or leaves.
            Ended::Closed => receiving.await,
            Ended::Dropped => {}
        }
    }
}

/// Reads messages until the connection ends. Each ping is answered by the stream itself.
async fn receive(
    state: &State,
    head: &Parts,
    connection: u64,
    mut stream: SplitStream<Socket>,
    queue: mpsc::UnboundedSender<Incoming>,
) {
    while let Some(Ok(message)) = stream.next().await {
        let received = state.started.elapsed();
        let (bytes, json) = match message {
            Message::Text(text) => {
                let bytes = Bytes::from(text);
                let json = serde_json::from_slice(&bytes)
                    .map_err(|cause| format!("the message cannot be parsed as JSON: {cause}"));
                (bytes, json)
            }
            Message::Binary(bytes) => {
                (bytes, Err("a binary message is not supported: send text".to_owned()))
            }
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => continue,
        };
        match json.as_ref().map(kind) {
            Ok(Some(kind)) if kind != "response.create" => {
                let route = Route::SocketMessage { connection, kind: kind.to_owned() };
                let entry = exchange(state, head, bytes, route);
                state.journal.append(Exchange { received, ..entry });
            }
            // An error means that nothing is answered any more: the connection is being closed.
            _ => drop(queue.send(Incoming { received, bytes, json })),
        }
    }
}

fn kind(message: &Value) -> Option<&str> {
    message.get("type").and_then(Value::as_str)
}
