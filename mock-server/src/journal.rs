//! The journal: everything that reached the server, in order, and what became of it.
//!
//! A journal grows without bound unless [`JournalLimits`] are set. With them, the oldest exchanges
//! leave memory: into a file, from which they are read back on demand, or, without a folder for
//! that file, for good. What is gone is counted, and no count is ever less than exact.

mod counts;
mod limits;
mod spill;
mod store;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

pub use counts::Counts;
pub use limits::{JournalLimits, Missing};

use crate::script::{Fault, Purpose};
use crate::validate::Refusal;
use crate::wire::Wire;
use store::Store;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Position in the journal, from 1.
    pub number: u64,
    /// Time since the server started.
    pub received: Duration,
    /// HTTP method.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Query string, if any.
    pub query: Option<String>,
    /// Headers in order, names in lower case; credentials are replaced by `[redacted]`.
    pub headers: Vec<(String, String)>,
    /// The body after content decoding.
    #[serde(skip)]
    pub body: Bytes,
    /// What kind of request it was, with what is known of each kind.
    pub route: Route,
}

/// Where a request went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Route {
    /// A model endpoint.
    Model(ModelExchange),
    /// A question beside the conversation: it takes no turn.
    Lookup(Lookup),
    /// `GET /page/NAME`; `found` tells whether the script has that page.
    Page {
        /// Page name.
        name: String,
        /// Whether it exists.
        found: bool,
    },
    /// Anything sent to `/sink/NAME`; the body is in [`Exchange::body`].
    Sink {
        /// Sink name.
        name: String,
    },
    /// A request to upgrade to a `WebSocket`. The model requests that come over it are exchanges
    /// of their own, with this one's path and headers.
    Upgrade(Upgrade),
    /// A message on a `WebSocket` that is no model request; it is in [`Exchange::body`] and gets
    /// no answer.
    SocketMessage {
        /// The connection's number, from 1.
        connection: u64,
        /// The message's `type`.
        #[serde(rename = "type")]
        kind: String,
    },
    /// Anything else: answered 404, or 405 where the path takes other methods only.
    Unknown,
}

/// A request to upgrade to a `WebSocket`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upgrade {
    /// The connection's number, from 1, in the order in which clients ask.
    pub connection: u64,
    /// What was answered.
    pub handshake: Handshake,
    /// The extensions that both sides use from then on, as the answer names them, such as
    /// `permessage-deflate`; `None` when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<String>,
}

/// The answer to an upgrade request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// Waiting for a gate.
    Pending,
    /// The client was let in.
    Accepted,
    /// Refused, as the script says or because it is no valid handshake.
    Refused {
        /// HTTP status.
        status: u16,
    },
    /// The client went away first.
    Abandoned,
}

/// A question about the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "lookup", rename_all = "kebab-case")]
pub enum Lookup {
    /// `GET {any prefix}/models`.
    Models,
    /// `GET {any prefix}/models/ID`.
    Model {
        /// The model's id, as it stands in the path.
        id: String,
    },
    /// `POST {any prefix}/messages/count_tokens`; the body is in [`Exchange::body`].
    CountTokens,
    /// A question about a response that was served before.
    Stored {
        /// The response's id, as it stands in the path.
        id: String,
        /// What is done with it.
        action: StoredAction,
    },
    /// `POST {any prefix}/responses/input_tokens`; the body is in [`Exchange::body`].
    InputTokens,
    /// `POST {any prefix}/responses/compact`; the body is in [`Exchange::body`].
    Compact,
}

/// What is done with a response that was served before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoredAction {
    /// `GET {any prefix}/responses/ID`.
    Read,
    /// `DELETE {any prefix}/responses/ID`.
    Delete,
    /// `POST {any prefix}/responses/ID/cancel`.
    Cancel,
    /// `GET {any prefix}/responses/ID/input_items`.
    InputItems,
}

/// A request to a model endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelExchange {
    /// The wire it came over.
    pub wire: Wire,
    /// The recognised purpose.
    pub purpose: Purpose,
    /// The body as JSON; `None` when it could not be parsed (the outcome is then
    /// [`Outcome::Malformed`]).
    pub json: Option<Arc<Value>>,
    /// What the request stands for; see [`effective`](Self::effective).
    #[serde(default, skip_serializing_if = "Effective::is_as_sent")]
    pub effective: Effective,
    /// The `WebSocket` connection that it came over, by its number; `None` over plain HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u64>,
    /// The body as the model reads it: the [`effective`](Self::effective) body without what the
    /// provider loses. `None` where there is no effective body.
    pub read: Option<Arc<Value>>,
    /// What the provider lost of the effective body without a word to the client.
    pub dropped: Vec<Dropped>,
    /// What was answered.
    pub outcome: Outcome,
    /// How the answer began; `None` as long as it has not, and when it waits for a gate.
    pub answer: Option<Answer>,
    /// How far the answer got.
    pub delivery: Delivery,
    /// The fault that the answer has.
    pub applied: Option<Arc<Applied>>,
}

/// A fault as it was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// Which attempt at the turn this is, from 1.
    pub attempt: u64,
    /// The fault.
    pub fault: Fault,
}

/// A message that the provider lost: the model never reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Where it stands in the body, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// Its role.
    pub role: String,
}

/// How an answer began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// How long the client was asked to wait before it comes again (`retry-after-ms` or
    /// `retry-after`).
    pub retry_after: Option<Duration>,
}

impl ModelExchange {
    /// The body that the request stands for, which alone is to be judged: where it continues an
    /// earlier response, the whole history along the chain is in `input` (the earlier effective
    /// input, that response's output items, then the new input), and `previous_response_id` and
    /// the fields that only steer a `WebSocket` are gone. The body as sent in all other cases.
    ///
    /// `None` when there is no such body: the body is no JSON, or the response that it continues
    /// is not known to the server.
    pub fn effective(&self) -> Option<&Arc<Value>> {
        match &self.effective {
            Effective::AsSent => self.json.as_ref(),
            Effective::Rebuilt(body) => Some(body),
            Effective::Unknown => None,
        }
    }
}

/// What a model request stands for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effective {
    /// The body as it was sent.
    #[default]
    AsSent,
    /// This body: it continues an earlier response, or has fields that only steer a `WebSocket`.
    Rebuilt(Arc<Value>),
    /// It continues a response that is not known to the server.
    Unknown,
}

impl Effective {
    fn is_as_sent(&self) -> bool {
        *self == Self::AsSent
    }
}

/// What the server did with a model request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    /// A scripted turn was given.
    Served(Served),
    /// A side request got its purpose's default reply.
    SideDefault,
    /// A request for no output (`generate: false`) was answered; it takes no turn.
    WarmUp {
        /// The response id given.
        response_id: String,
    },
    /// A request over a `WebSocket` continues a response that is not there: it was told so and
    /// took no turn.
    PreviousNotFound {
        /// The id that it continues.
        previous: String,
    },
    /// A main request found no turn left.
    Unscripted,
    /// The next turn's guard did not hold.
    GuardFailed {
        /// Label of the turn that was not given.
        turn: String,
        /// What did not hold.
        reason: String,
    },
    /// The next turn calls a tool that the request does not offer.
    NotOffered {
        /// Label of the turn that was not given.
        turn: String,
        /// The tool called.
        tool: String,
        /// The tools offered.
        offered: Vec<String>,
    },
    /// The turn's fault answered with an HTTP error in the reply's place.
    Faulted {
        /// Label of the turn.
        turn: String,
    },
    /// The turn was taken, but neither its reply nor its fault can answer this request, on this
    /// wire or in this form.
    Unfit {
        /// Label of the turn.
        turn: String,
        /// What does not fit.
        reason: String,
    },
    /// The request breaks a rule of the service that is played. It took no turn.
    Refused(Refusal),
    /// The body could not be read as a request of this wire.
    Malformed {
        /// Why.
        reason: String,
    },
}

/// A scripted turn as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Index into [`Script::turns`](crate::script::Script::turns).
    pub turn: usize,
    /// Its label.
    pub label: String,
    /// The response id given.
    pub response_id: String,
    /// For each call item of the reply, in order: its call id.
    pub call_ids: Vec<String>,
}

/// How far an answer got on its way to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// Waiting for a gate, or being written.
    Pending,
    /// Every byte was written to the connection.
    Complete,
    /// The client went away first.
    Abandoned,
    /// The server ended it before its end, as the script says.
    Cut,
}

impl Exchange {
    /// Whether nothing about it changes any more: its answer has ended, or it never had one that
    /// is followed.
    pub fn is_settled(&self) -> bool {
        match &self.route {
            Route::Model(model) => model.delivery != Delivery::Pending,
            Route::Upgrade(upgrade) => upgrade.handshake != Handshake::Pending,
            Route::Lookup(_)
            | Route::Page { .. }
            | Route::Sink { .. }
            | Route::SocketMessage { .. }
            | Route::Unknown => true,
        }
    }
}

/// The shared, growing list of exchanges.
#[derive(Debug, Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Mutex<Store>,
    changed: watch::Sender<u64>,
}

impl Default for Journal {
    fn default() -> Self {
        Self::new(JournalLimits::default())
    }
}

impl Journal {
    /// An empty journal.
    pub(crate) fn new(limits: JournalLimits) -> Self {
        Self {
            inner: Arc::new(Inner {
                store: Mutex::new(Store::new(limits)),
                changed: watch::Sender::new(0),
            }),
        }
    }

    /// Adds an exchange, giving it the next number, which is returned.
    pub(crate) fn append(&self, exchange: Exchange) -> u64 {
        let number = self.lock().append(exchange);
        self.touch();
        number
    }

    /// Changes how far the answer of exchange `number` got.
    pub(crate) fn set_delivery(&self, number: u64, delivery: Delivery) {
        self.lock().set_delivery(number, delivery);
        self.touch();
    }

    /// Changes what was answered to the upgrade request of exchange `number`, and which extensions
    /// were agreed.
    pub(crate) fn set_handshake(
        &self,
        number: u64,
        handshake: Handshake,
        extensions: Option<String>,
    ) {
        self.lock().set_handshake(number, handshake, extensions);
        self.touch();
    }

    /// Changes what was answered to exchange `number`: known only when the answer was written.
    pub(crate) fn set_outcome(&self, number: u64, outcome: Outcome) {
        self.lock().set_outcome(number, outcome);
        self.touch();
    }

    /// Notes how the answer of exchange `number` began.
    pub(crate) fn set_answer(&self, number: u64, answer: Answer) {
        self.lock().set_answer(number, answer);
        self.touch();
    }

    /// A copy of everything so far, oldest first. What [`counts`](Self::counts) has as dropped is
    /// not in it, nor what could not be read back; [`iter`](Self::iter) names both.
    pub fn snapshot(&self) -> Vec<Exchange> {
        self.iter().filter_map(Result::ok).collect()
    }

    /// Everything so far, oldest first, each looked up when it is asked for.
    pub fn iter(&self) -> impl Iterator<Item = Result<Exchange, Missing>> + '_ {
        let length = self.counts().exchanges;
        (1..=length).filter_map(|number| self.get(number).transpose())
    }

    /// The exchange with this number; `None` when there is none yet.
    ///
    /// # Errors
    /// When it has been dropped or cannot be read back.
    pub fn get(&self, number: u64) -> Result<Option<Exchange>, Missing> {
        self.lock().get(number)
    }

    /// How far the answer of an exchange got; `None` when there is no such exchange yet, or its
    /// answer is not followed.
    ///
    /// # Errors
    /// When the exchange has been dropped or cannot be read back.
    pub fn delivery(&self, number: u64) -> Result<Option<Delivery>, Missing> {
        self.lock().delivery(number)
    }

    /// How many exchanges there were, and what became of them. Exact, whatever has left memory.
    pub fn counts(&self) -> Counts {
        self.lock().counts()
    }

    /// Why exchanges were dropped although they were to be kept in a file; `None` when that never
    /// happened.
    pub fn trouble(&self) -> Option<String> {
        self.lock().trouble()
    }

    /// How many exchanges there are, wherever they are kept.
    pub fn len(&self) -> usize {
        usize::try_from(self.counts().exchanges).unwrap_or(usize::MAX)
    }

    /// Whether nothing has arrived.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until the predicate holds for the list of exchanges, looking again after each change.
    ///
    /// The list holds the exchanges in memory: all of them, unless the journal has limits.
    pub async fn wait_until(&self, mut predicate: impl FnMut(&[Exchange]) -> bool) {
        let mut changes = self.changes();
        loop {
            if predicate(self.lock().recent()) {
                return;
            }
            // The sender lives in `self`, so a change always comes or the wait goes on.
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Tells of each change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    fn touch(&self) {
        self.inner.changed.send_modify(|revision| *revision += 1);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Store> {
        // A panic while the store was locked leaves it whole: each change is made in one step.
        self.inner.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
