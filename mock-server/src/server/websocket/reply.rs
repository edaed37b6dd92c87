//! Answering the requests of one connection.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::conversation::{Incoming, Socket};
use super::create::{Create, stream_id, without_orphan};
use super::deflate::Outgoing;
use super::handshake::script_of;
use super::lanes::Lanes;
use super::steps::{Action, steps};
use crate::journal::{Effective, Exchange, ModelExchange, Outcome, Route};
use crate::script::{FaultTarget, Purpose, SocketFault};
use crate::server::answer::{Asked, Taken, exchange, model_exchange, route, worded};
use crate::server::chain::{self, Answered};
use crate::server::delivery::Tracker;
use crate::server::routing::{self, Plan};
use crate::server::state::State;
use crate::server::store::Stored;
use crate::wire::{self, ApiError, Ids, SocketFrames, Unfit, Wire};

/// How the server's side of a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// A close frame was sent.
    Closed,
    /// The connection is to be dropped, or is gone already.
    Dropped,
    /// The client sent what no client may send: the connection is to be closed with this code.
    Failed(CloseCode),
}

/// Answers requests, one at a time.
#[derive(Debug)]
pub(super) struct Replying<'s> {
    state: &'s State,
    head: &'s Parts,
    connection: u64,
    faults: &'s [SocketFault],
    outgoing: Outgoing<Socket>,
    lanes: Lanes,
    replies: u64,
    warm_ups: u64,
}

/// A response that is about to be written.
struct Response {
    events: Vec<Bytes>,
    number: FaultTarget,
    tracker: Tracker,
    /// The turn that it took.
    turn: Option<(Purpose, usize)>,
    /// What is remembered of it here.
    answered: Answered,
    /// What every connection can ask for.
    stored: Stored,
}

impl<'s> Replying<'s> {
    pub(super) fn new(
        state: &'s State,
        head: &'s Parts,
        connection: u64,
        outgoing: Outgoing<Socket>,
    ) -> Self {
        let faults = script_of(state, connection).map_or(&[][..], |scripted| &scripted.faults);
        let lanes = Lanes::default();
        Self { state, head, connection, faults, outgoing, lanes, replies: 0, warm_ups: 0 }
    }

    /// Answers what comes until the connection ends.
    pub(super) async fn run(&mut self, mut waiting: mpsc::UnboundedReceiver<Incoming>) -> Ended {
        while let Some(incoming) = waiting.recv().await {
            let ended = match self.answer(incoming).await {
                Ok(ended) => ended,
                // The client has gone: what was not written is abandoned.
                Err(_) => Some(Ended::Dropped),
            };
            if let Some(ended) = ended {
                return ended;
            }
        }
        Ended::Dropped
    }

    /// Where what was answered went.
    pub(super) fn into_outgoing(self) -> Outgoing<Socket> {
        self.outgoing
    }

    async fn answer(&mut self, incoming: Incoming) -> Result<Option<Ended>, Error> {
        let Incoming { received, bytes, json } = incoming;
        let sent = match json {
            Ok(json) => Arc::new(json),
            Err(reason) => {
                let entry = self.unread(received, bytes, None, &reason);
                let refusal = ApiError::bad_request(reason);
                return self.refuse(entry, &refusal, SocketFrames::new(None)).await;
            }
        };
        let create = match Create::read(&sent, self.state.usage()) {
            Ok(create) => create,
            Err(refusal) => {
                let entry = self.unread(received, bytes, Some(&sent), &refusal.message);
                let frames = SocketFrames::new(stream_id(&sent).ok().flatten());
                self.evict(chain::previous_id(&sent).ok().flatten());
                return self.refuse(entry, &refusal, frames).await;
            }
        };
        let mut asked = Asked {
            wire: Wire::ResponsesWs,
            connection: Some(self.connection),
            received,
            body: &bytes,
            sent: &sent,
            effective: Effective::Unknown,
        };
        let effective = match create.previous {
            None => chain::unchained(&sent),
            Some(id) => {
                let Some(earlier) = self.earlier(id) else {
                    let outcome = Outcome::PreviousNotFound { previous: id.to_owned() };
                    let entry = self.entry(&asked, outcome);
                    return self.refuse(entry, &chain::not_found(id), create.frames).await;
                };
                let continued = chain::chained(&self.state.script, &sent, &earlier);
                match continued.and_then(without_orphan) {
                    Ok(effective) => effective,
                    Err(refusal) => {
                        self.evict(create.previous);
                        let entry =
                            self.unread(received, bytes.clone(), Some(&sent), &refusal.message);
                        return self.refuse(entry, &refusal, create.frames).await;
                    }
                }
            }
        };
        asked.effective = Effective::Rebuilt(Arc::clone(&effective));
        let (wire, body) = asked.validated();
        if let Some(refusal) = self.state.validator.check(wire, &self.head.headers, body) {
            self.evict(create.previous);
            let refusal = worded(self.state, refusal);
            let entry = self.entry(&asked, Outcome::Refused(refusal.clone()));
            return self.answer_with(entry, create.frames.broken_rule(&refusal)).await;
        }
        if create.generate {
            self.reply(&create, &asked, &effective).await
        } else {
            self.warm_up(&create, &asked, &effective).await
        }
    }

    async fn reply(
        &mut self,
        create: &Create<'_>,
        asked: &Asked<'_>,
        effective: &Arc<Value>,
    ) -> Result<Option<Ended>, Error> {
        let Taken { purpose, plan, mut tracker } = route(self.state, self.head, asked);
        match plan {
            Plan::Refuse(refusal) => {
                self.evict(create.previous);
                tracker.note();
                self.send(create.frames.refusal(&refusal)).await?;
                tracker.written();
                Ok(None)
            }
            Plan::Reply { reply, label, gate, ids, applied: _ } => {
                if let Some(gate) = gate {
                    self.state.gates.wait(gate).await;
                }
                let events = match create.frames.reply(&create.request, &reply, ids) {
                    Ok(events) => events,
                    Err(unfit) => {
                        return self.cannot(create, &label, &unfit, tracker).await;
                    }
                };
                self.replies += 1;
                let turn = match ids {
                    Ids::Turn { turn, .. } => Some((purpose.clone(), turn)),
                    Ids::Side { .. } | Ids::WarmUp { .. } => None,
                };
                let id = ids.response(Wire::ResponsesWs);
                let answered = Answered::reply(id, effective, &purpose, ids);
                let response = Response {
                    events,
                    number: FaultTarget::Reply(self.replies),
                    tracker,
                    turn,
                    stored: asked.stored(purpose, ids, Some(answered.clone())),
                    answered,
                };
                self.write(create, response).await
            }
        }
    }

    /// The answer when the reply cannot be written. The turn is taken.
    async fn cannot(
        &mut self,
        create: &Create<'_>,
        label: &str,
        unfit: &Unfit,
        mut tracker: Tracker,
    ) -> Result<Option<Ended>, Error> {
        self.evict(create.previous);
        let outcome = Outcome::Unfit { turn: label.to_owned(), reason: unfit.to_string() };
        self.state.journal.set_outcome(tracker.exchange(), outcome);
        let refusal = ApiError::script_mismatch(format!("`{label}` cannot be given: {unfit}"));
        tracker.note();
        self.send(create.frames.refusal(&refusal)).await?;
        tracker.written();
        Ok(None)
    }

    async fn warm_up(
        &mut self,
        create: &Create<'_>,
        asked: &Asked<'_>,
        effective: &Arc<Value>,
    ) -> Result<Option<Ended>, Error> {
        self.warm_ups += 1;
        let ids = Ids::WarmUp { connection: self.connection, count: self.warm_ups };
        let id = ids.response(Wire::ResponsesWs);
        let entry = self.entry(asked, Outcome::WarmUp { response_id: id.clone() });
        let number = if self.warm_ups == 1 { FaultTarget::WarmUp } else { FaultTarget::Reply(0) };
        let answered = Answered::warm_up(id, effective);
        let reply = wire::warm_up_reply();
        self.state.validator.remember(Wire::Responses, effective, &reply, ids);
        let response = Response {
            events: create.frames.warm_up(&create.request, ids),
            number,
            tracker: self.append(entry),
            turn: None,
            stored: asked.stored(Purpose::main(), ids, Some(answered.clone())),
            answered,
        };
        self.write(create, response).await
    }

    /// Writes a response, as far as the faults allow, and remembers a whole one.
    async fn write(
        &mut self,
        create: &Create<'_>,
        response: Response,
    ) -> Result<Option<Ended>, Error> {
        let Response { events, number, tracker, turn, answered, stored } = response;
        let mut following = Some(tracker);
        for step in steps(events, number, self.faults, create.frames) {
            if let Some(fault) = step.fault {
                self.state.sockets.came_about(self.connection, fault);
            }
            if step.is_cut {
                // Before the client can see it and ask again.
                if let Some(tracker) = following.take() {
                    tracker.cut();
                }
                self.evict(create.previous);
                if let Some((purpose, turn)) = &turn {
                    self.state.queues().give_back(purpose, *turn);
                }
            } else if step.action.ends_connection() {
                following.iter_mut().for_each(Tracker::note);
                self.state.store.keep(answered.id(), stored.clone());
            }
            match step.action {
                Action::Text(frame) => self.outgoing.feed(text(frame)).await?,
                Action::Binary(frame) => self.outgoing.feed(Message::Binary(frame)).await?,
                Action::Ping => self.outgoing.feed(Message::Ping(Bytes::new())).await?,
                Action::Hold { gate } => {
                    self.outgoing.flush().await?;
                    self.state.gates.wait(gate).await;
                }
                Action::Close { code, reason } => {
                    let frame = CloseFrame { code: code.into(), reason: reason.into() };
                    self.outgoing.send(Message::Close(Some(frame))).await?;
                    if let Some(tracker) = following {
                        tracker.written();
                    }
                    return Ok(Some(Ended::Closed));
                }
                Action::Drop => {
                    self.outgoing.flush().await?;
                    if let Some(tracker) = following {
                        tracker.written();
                    }
                    return Ok(Some(Ended::Dropped));
                }
            }
            if step.is_cut {
                self.outgoing.flush().await?;
                return Ok(None);
            }
        }
        // Noted before the last bytes are out: the client may act on them at once.
        self.state.store.keep(answered.id(), stored);
        self.lanes.put(create.stream_id, answered);
        following.iter_mut().for_each(Tracker::note);
        self.outgoing.flush().await?;
        if let Some(tracker) = following {
            tracker.written();
        }
        Ok(None)
    }

    async fn refuse(
        &mut self,
        entry: Exchange,
        refusal: &ApiError,
        frames: SocketFrames<'_>,
    ) -> Result<Option<Ended>, Error> {
        self.answer_with(entry, frames.refusal(refusal)).await
    }

    /// Answers with this frame alone.
    async fn answer_with(&mut self, entry: Exchange, frame: Bytes) -> Result<Option<Ended>, Error> {
        let mut tracker = self.append(entry);
        tracker.note();
        self.send(frame).await?;
        tracker.written();
        Ok(None)
    }

    async fn send(&mut self, frame: Bytes) -> Result<(), Error> {
        self.outgoing.send(text(frame)).await
    }

    fn earlier(&self, id: &str) -> Option<Answered> {
        self.lanes.find(id).or_else(|| self.state.store.answered(id))
    }

    fn evict(&mut self, previous: Option<&str>) {
        if let Some(id) = previous {
            self.lanes.evict(id);
        }
    }

    fn append(&self, entry: Exchange) -> Tracker {
        let number = self.state.journal.append(entry);
        Tracker::new(&self.state.journal, number)
    }

    fn entry(&self, asked: &Asked<'_>, outcome: Outcome) -> Exchange {
        let purpose = routing::purpose(&self.state.script, &asked.question(self.head));
        asked.entry(self.state, self.head, purpose, outcome)
    }

    /// The journal's entry for a request that could not be read.
    fn unread(
        &self,
        received: std::time::Duration,
        bytes: Bytes,
        sent: Option<&Arc<Value>>,
        reason: &str,
    ) -> Exchange {
        let (purpose, effective) = (Purpose::main(), Effective::Unknown);
        let outcome = Outcome::Malformed { reason: reason.to_owned() };
        let wire = Wire::ResponsesWs;
        let model = model_exchange(self.state, wire, purpose, sent.cloned(), effective, outcome);
        let route = Route::Model(ModelExchange { connection: Some(self.connection), ..model });
        Exchange { received, ..exchange(self.state, self.head, bytes, route) }
    }
}

fn text(frame: Bytes) -> Message {
    match Utf8Bytes::try_from(frame) {
        Ok(text) => Message::Text(text),
        // Frames are made of texts, so this cannot come about; the bytes are not lost if it does.
        Err(error) => Message::Binary(Bytes::from(error.to_string())),
    }
}
