//! The responses that were served, for clients that ask for them again or continue them.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::chain::Answered;
use super::routing;
use crate::script::{Purpose, Reply, Script};
use crate::wire::Ids;

/// How many responses are kept; the oldest are forgotten first.
const KEPT: usize = 256;

/// The responses that outlive their exchange: those whose request did not say `store: false`,
/// whatever they came over.
#[derive(Debug, Default)]
pub(super) struct Store {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    by_id: HashMap<String, Stored>,
    in_order: VecDeque<String>,
}

/// A response and the request that it answers. Its object is written when it is asked for.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    /// The request's body as it was sent.
    pub(super) sent: Arc<Value>,
    pub(super) purpose: Purpose,
    pub(super) ids: Ids,
    /// What a request continues that names it; `None`: its own history is not known.
    pub(super) answered: Option<Answered>,
    pub(super) is_cancelled: bool,
}

impl Store {
    /// Keeps a response, unless its request asks not to.
    pub(super) fn keep(&self, id: &str, response: Stored) {
        if response.sent.get("store") == Some(&Value::Bool(false)) {
            return;
        }
        let mut inner = self.lock();
        if inner.by_id.insert(id.to_owned(), response).is_none() {
            inner.in_order.push_back(id.to_owned());
        }
        while inner.in_order.len() > KEPT {
            if let Some(oldest) = inner.in_order.pop_front() {
                inner.by_id.remove(&oldest);
            }
        }
    }

    /// A response.
    pub(super) fn get(&self, id: &str) -> Option<Stored> {
        self.lock().by_id.get(id).cloned()
    }

    /// What a request continues that names this response.
    pub(super) fn answered(&self, id: &str) -> Option<Answered> {
        self.lock().by_id.get(id)?.answered.clone()
    }

    /// Deletes a response, so that nothing can continue it either.
    pub(super) fn delete(&self, id: &str) {
        let mut inner = self.lock();
        inner.in_order.retain(|kept| kept != id);
        if let Some(Stored { answered: Some(answered), .. }) = inner.by_id.remove(id) {
            answered.delete();
        }
    }

    /// Marks a response as cancelled.
    pub(super) fn cancel(&self, id: &str) {
        if let Some(stored) = self.lock().by_id.get_mut(id) {
            stored.is_cancelled = true;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic in between leaves an id without a response at worst, which is then not found.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stored {
    /// The reply.
    pub(super) fn reply<'s>(&self, script: &'s Script) -> Cow<'s, Reply> {
        routing::reply_of(script, &self.purpose, self.ids)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(turn: usize, sent: Value) -> Stored {
        Stored {
            sent: Arc::new(sent),
            purpose: Purpose::main(),
            ids: Ids::Turn { turn, repeat: 0 },
            answered: None,
            is_cancelled: false,
        }
    }

    #[test]
    fn the_newest_are_kept_and_nothing_that_shall_not_be_kept() {
        let store = Store::default();
        for index in 0..=KEPT {
            store.keep(&index.to_string(), stored(index, json!({})));
        }
        assert!(store.get("0").is_none());
        assert!(store.get("1").is_some());
        assert!(store.get(&KEPT.to_string()).is_some());
        store.delete("1");
        assert!(store.get("1").is_none());
        store.keep("a", stored(0, json!({"store": false})));
        assert!(store.get("a").is_none());
    }
}
