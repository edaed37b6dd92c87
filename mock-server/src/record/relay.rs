//! A `WebSocket`: messages passed on both ways, and each response written down.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::forward::Recorder;
use super::note::Note;
use super::read;
use super::scrub::Credentials;
use crate::wire::Wire;

/// Where the answer to an upgrade request leaves what is to be relayed once the connection has
/// changed its protocol.
#[derive(Clone, Default)]
pub(super) struct Opening {
    inner: Arc<Mutex<Option<Relay>>>,
}

impl Opening {
    /// What is to be relayed, if the service let the client in.
    pub(super) fn take(&self) -> Option<Relay> {
        self.lock().take()
    }

    pub(super) fn put(&self, relay: Relay) {
        *self.lock() = Some(relay);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Relay>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The two connections of a client that was let in.
pub(super) struct Relay {
    client: OnUpgrade,
    service: OnUpgrade,
    listener: Listener,
}

/// How one direction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// With a close frame, which was passed on.
    Closed,
    /// Without one.
    Dropped,
}

impl Relay {
    pub(super) fn new(client: OnUpgrade, service: OnUpgrade, listener: Listener) -> Self {
        Self { client, service, listener }
    }

    /// Passes messages on until both sides have closed, or one of them is gone.
    pub(super) async fn run(self) {
        // An error means that one of both left before the protocol was changed.
        let (Ok(client), Ok(service)) = tokio::join!(self.client, self.service) else { return };
        let (to_client, from_client) = socket(client, Role::Server).await.split();
        let (to_service, from_service) = socket(service, Role::Client).await.split();
        let listener = Mutex::new(self.listener);
        let hear = |message: &Message, from_service: bool| {
            let Message::Text(text) = message else { return };
            // What is no JSON is passed on all the same; no response is in it.
            let Ok(value) = serde_json::from_str(text) else { return };
            let mut listener = listener.lock().unwrap_or_else(PoisonError::into_inner);
            if from_service { listener.said(value) } else { listener.asked(&value) }
        };
        // Each by itself, so that neither has to wait for the other.
        let mut asking = std::pin::pin!(pass(from_client, to_service, |text| hear(text, false)));
        let mut saying = std::pin::pin!(pass(from_service, to_client, |text| hear(text, true)));
        // After a close frame, the other side answers with its own.
        tokio::select! {
            ended = &mut asking => if ended == Ended::Closed { saying.await; },
            ended = &mut saying => if ended == Ended::Closed { asking.await; },
        }
    }
}

async fn socket(connection: Upgraded, role: Role) -> WebSocketStream<TokioIo<Upgraded>> {
    WebSocketStream::from_raw_socket(TokioIo::new(connection), role, None).await
}

/// Passes messages on in one direction; `hear` is told of each before it goes on.
async fn pass(
    mut from: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut to: impl Sink<Message, Error = Error> + Unpin,
    hear: impl Fn(&Message),
) -> Ended {
    while let Some(Ok(message)) = from.next().await {
        match message {
            Message::Text(_) | Message::Binary(_) => {
                hear(&message);
                if to.send(message).await.is_err() {
                    return Ended::Dropped;
                }
            }
            Message::Close(_) => {
                // An error means that the other side has closed as well.
                let _ = to.send(message).await;
                return Ended::Closed;
            }
            // Each connection answers its own.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
    Ended::Dropped
}

/// Finds the responses in what goes over a connection.
pub(super) struct Listener {
    recorder: Arc<Recorder>,
    about: String,
    wire: Option<Wire>,
    credentials: Credentials,
    /// The requests that have no whole answer yet, in the order in which they came.
    waiting: Vec<Waiting>,
}

/// A request, and what came of its answer so far.
struct Waiting {
    /// The stream that it names; the answers of each stream come in the order of its requests.
    stream: Option<String>,
    /// `None`: no output was wanted, so there is no reply to write down.
    note: Option<Note>,
    events: Vec<Value>,
}

impl Listener {
    pub(super) fn new(
        recorder: Arc<Recorder>,
        about: String,
        wire: Option<Wire>,
        credentials: Credentials,
    ) -> Self {
        Self { recorder, about, wire, credentials, waiting: Vec::new() }
    }

    /// The client sent this.
    fn asked(&mut self, message: &Value) {
        if message["type"] != "response.create" {
            return;
        }
        let note = || {
            let credentials = self.credentials.clone();
            Note::new(&self.recorder, self.about.clone(), self.wire, credentials)
        };
        let note = (message["generate"] != false).then(note);
        self.waiting.push(Waiting { stream: stream(message), note, events: Vec::new() });
    }

    /// The service sent this.
    fn said(&mut self, event: Value) {
        let named = stream(&event);
        let Some(index) = self.waiting.iter().position(|waiting| waiting.stream == named) else {
            return;
        };
        let is_last = matches!(
            event["type"].as_str(),
            Some("response.completed" | "response.incomplete" | "response.failed" | "error")
        );
        self.waiting[index].events.push(event);
        if is_last {
            let Waiting { note, events, .. } = self.waiting.remove(index);
            if let Some(note) = note {
                note.read(read::socket(events));
            }
        }
    }
}

fn stream(message: &Value) -> Option<String> {
    message["stream_id"].as_str().map(str::to_owned)
}

impl Drop for Listener {
    fn drop(&mut self) {
        for Waiting { note, .. } in self.waiting.drain(..) {
            if let Some(mut note) = note {
                note.gap("the connection ended before the response did");
            }
        }
    }
}
