//! The journal as it grows: server-sent events for whoever watches.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, stream};
use http::{HeaderMap, HeaderValue, Response, header};
use http_body_util::{Either, StreamBody};
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{AnswerBody, view};
use crate::journal::{Delivery, Journal, Route};
use crate::server::session::Session;

/// How many of the last exchanges are followed even after their answers seem complete: a client
/// may have left at the very end.
const FOLLOWED: u64 = 256;

/// The body of a feed.
pub(in crate::server) type LiveBody =
    StreamBody<Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>>;

/// Where a client that lost its feed left off.
pub(super) fn last_event(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.parse().ok()
}

/// The feed of a session's journal after the exchange with this number.
///
/// Events: `exchange` (an exchange, with its number as the event's id), `delivery` (an answer got
/// further), `missing` (an exchange that is no longer kept), and at the end `ended` (the session
/// was started afresh or taken away).
///
/// Nothing is queued for a slow watcher: the next event is looked up when it can be written.
pub(super) fn feed(session: &Session, after: u64) -> Response<AnswerBody> {
    let run = session.run();
    let journal = run.state.journal.clone();
    let feed = Feed {
        key: session.key().to_string(),
        changes: journal.changes(),
        journal,
        last: after,
        pending: BTreeMap::new(),
        ready: VecDeque::new(),
        ended: run.ended.subscribe(),
        done: false,
    };
    let frames = stream::unfold(feed, async |mut feed| {
        let event = feed.next().await?;
        Some((Ok(Frame::data(event)), feed))
    });
    let body: LiveBody = StreamBody::new(Box::pin(frames));
    let mut response = Response::new(Either::Right(body));
    let headers = response.headers_mut();
    let content_type = HeaderValue::from_static("text/event-stream; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

struct Feed {
    key: String,
    journal: Journal,
    changes: watch::Receiver<u64>,
    /// The last exchange told of.
    last: u64,
    /// The exchanges told of whose answers may still get another state.
    pending: BTreeMap<u64, Delivery>,
    /// Events found and not yet handed out.
    ready: VecDeque<Bytes>,
    ended: watch::Receiver<bool>,
    done: bool,
}

impl Feed {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.done {
                return None;
            }
            // Looked at before the journal, so that what came before the end is told of.
            let ended = *self.ended.borrow();
            self.look();
            if !self.ready.is_empty() {
                continue;
            }
            if ended {
                self.done = true;
                self.ready.push_back(event("ended", None, &json!({"session": self.key})));
                continue;
            }
            tokio::select! {
                // The journal lives in `self`, and the run's end comes before its sender goes.
                _ = self.changes.changed() => {}
                _ = self.ended.wait_for(|ended| *ended) => {}
            }
        }
    }

    /// Finds what is new: one more exchange at most, and every change of delivery.
    fn look(&mut self) {
        let (journal, ready) = (&self.journal, &mut self.ready);
        let last = self.last;
        self.pending.retain(|number, before| {
            let Ok(Some(now)) = journal.delivery(*number) else { return false };
            if now != *before {
                *before = now;
                ready.push_back(event("delivery", None, &view::delivery(*number, now)));
            }
            now == Delivery::Pending || number + FOLLOWED > last
        });
        let number = self.last + 1;
        match self.journal.get(number) {
            Ok(None) => return,
            Ok(Some(exchange)) => {
                if let Route::Model(model) = &exchange.route {
                    self.pending.insert(number, model.delivery);
                }
                let shown = view::exchange(&exchange);
                self.ready.push_back(event("exchange", Some(number), &shown));
            }
            Err(missing) => {
                let shown = view::absent(number, &missing);
                self.ready.push_back(event("missing", Some(number), &shown));
            }
        }
        self.last = number;
    }
}

fn event(kind: &str, id: Option<u64>, data: &Value) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("{id}event: {kind}\ndata: {data}\n\n"))
}
