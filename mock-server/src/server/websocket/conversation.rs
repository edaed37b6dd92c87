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
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::deflate::{self, Agreed, Outgoing, Violation};
use super::reply::{Ended, Replying};
use crate::journal::{Exchange, Route};
use crate::server::answer::exchange;
use crate::server::state::{BODY_LIMIT, State};

/// The stream of a connection.
pub(super) type Socket = WebSocketStream<deflate::Incoming<TokioIo<Upgraded>>>;

/// What is read at once; the buffer is there for the whole life of a connection.
const READ_BUFFER: usize = 16 * 1024;

/// A connection that was let in.
#[derive(Debug)]
pub(in crate::server) struct Conversation {
    upgrading: OnUpgrade,
    head: Parts,
    connection: u64,
    agreed: Option<Agreed>,
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
    pub(super) fn new(
        upgrading: OnUpgrade,
        head: Parts,
        connection: u64,
        agreed: Option<Agreed>,
    ) -> Self {
        Self { upgrading, head, connection, agreed }
    }

    /// Serves the connection to its end.
    pub(in crate::server) async fn run(self, state: &State) {
        // An error means that the client left before the protocol was changed.
        let Ok(upgraded) = self.upgrading.await else { return };
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .max_message_size(Some(BODY_LIMIT))
            .max_frame_size(Some(BODY_LIMIT));
        let stream = deflate::Incoming::new(TokioIo::new(upgraded), self.agreed, BODY_LIMIT);
        let socket = Socket::from_raw_socket(stream, Role::Server, Some(config)).await;
        let (sink, mut stream) = socket.split();
        let outgoing = Outgoing::new(sink, self.agreed);
        let (queue, waiting) = mpsc::unbounded_channel();
        let mut replying = Replying::new(state, &self.head, self.connection, outgoing);
        let ended = {
            // The client is listened to all the time, so that pings are answered and its leaving
            // is noticed while a reply waits.
            let receiving = receive(state, &self.head, self.connection, &mut stream, queue);
            let mut receiving = pin!(receiving);
            let ended = tokio::select! {
                ended = &mut receiving => ended,
                ended = replying.run(waiting) => ended,
            };
            if ended == Ended::Closed {
                // The client answers the close frame, or leaves.
                receiving.await;
            }
            ended
        };
        if let Ended::Failed(code) = ended {
            fail(replying.into_outgoing(), stream, code).await;
        }
    }
}

/// Closes a connection whose client sent what no client may send, and waits until it has left: what
/// it still sends would otherwise make the system throw the close frame away.
async fn fail(mut outgoing: Outgoing<Socket>, stream: SplitStream<Socket>, code: CloseCode) {
    let frame = CloseFrame { code, reason: Utf8Bytes::default() };
    // An error here and below means that the client has gone.
    let _ = outgoing.send(Message::Close(Some(frame))).await;
    let Ok(socket) = outgoing.into_sink().reunite(stream) else { return };
    let mut connection = socket.into_inner().into_inner();
    if connection.shutdown().await.is_ok() {
        let _ = tokio::io::copy(&mut connection, &mut tokio::io::sink()).await;
    }
}

/// The code that tells a client what it did wrong (RFC 6455, section 7.4.1); `None` when it only
/// went away.
fn close_code(error: &Error) -> Option<CloseCode> {
    match error {
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        Error::Protocol(_) => Some(CloseCode::Protocol),
        Error::Utf8(_) => Some(CloseCode::Invalid),
        Error::Capacity(_) => Some(CloseCode::Size),
        Error::Io(error) => Some(match error.get_ref()?.downcast_ref::<Violation>()? {
            Violation::BadData => CloseCode::Invalid,
            Violation::TooLong => CloseCode::Size,
            Violation::Framing => CloseCode::Protocol,
        }),
        _ => None,
    }
}

/// Reads messages until the connection ends. Each ping is answered by the stream itself.
async fn receive(
    state: &State,
    head: &Parts,
    connection: u64,
    stream: &mut SplitStream<Socket>,
    queue: mpsc::UnboundedSender<Incoming>,
) -> Ended {
    while let Some(message) = stream.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) => return close_code(&error).map_or(Ended::Dropped, Ended::Failed),
        };
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
    Ended::Dropped
}

fn kind(message: &Value) -> Option<&str> {
    message.get("type").and_then(Value::as_str)
}
