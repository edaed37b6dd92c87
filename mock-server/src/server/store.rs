//! The responses that were served, for clients that ask for them again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::script::{Reply, Script};
use crate::wire::Ids;

/// How many responses are kept; the oldest are forgotten first.
const KEPT: usize = 1024;

/// The served responses by their ids.
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
    pub(super) request: Arc<Value>,
    pub(super) ids: Ids,
    /// The reply of a side request; that of a turn is found in the script.
    side: Option<Arc<Reply>>,
    pub(super) is_cancelled: bool,
}

impl Store {
    /// Keeps a response, unless the request asks not to.
    pub(super) fn keep(&self, id: String, request: &Arc<Value>, reply: &Reply, ids: Ids) {
        if request.get("store") == Some(&Value::Bool(false)) {
            return;
        }
        let side = match ids {
            Ids::Turn { .. } => None,
            Ids::Side { .. } => Some(Arc::new(reply.clone())),
        };
        let stored = Stored { request: Arc::clone(request), ids, side, is_cancelled: false };
        let mut inner = self.lock();
        if inner.by_id.insert(id.clone(), stored).is_none() {
            inner.in_order.push_back(id);
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

    /// Forgets a response; tells whether there was one.
    pub(super) fn forget(&self, id: &str) -> bool {
        let mut inner = self.lock();
        inner.in_order.retain(|kept| kept != id);
        inner.by_id.remove(id).is_some()
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
    pub(super) fn reply<'s>(&'s self, script: &'s Script) -> Option<&'s Reply> {
        match (self.ids, &self.side) {
            (Ids::Turn { turn, .. }, _) => script.turns.get(turn).map(|turn| &turn.reply),
            (Ids::Side { .. }, side) => side.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let store = Store::default();
        let (request, reply) = (Arc::new(json!({})), Reply::default());
        for index in 0..=KEPT {
            let ids = Ids::Turn { turn: index, repeat: 0 };
            store.keep(index.to_string(), &request, &reply, ids);
        }
        assert!(store.get("0").is_none());
        assert!(store.get("1").is_some());
        assert!(store.forget("1") && !store.forget("1"));
        let unstored = Arc::new(json!({"store": false}));
        store.keep("a".to_owned(), &unstored, &reply, Ids::Turn { turn: 0, repeat: 0 });
        assert!(store.get("a").is_none());
    }
}
