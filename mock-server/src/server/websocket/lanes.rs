//! What a connection remembers: the newest response of each stream.

use indexmap::IndexMap;

use crate::server::chain::Answered;

/// The newest response of each stream; requests without a `stream_id` are one stream.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    newest: IndexMap<Option<String>, Answered>,
}

impl Lanes {
    /// A response that can be continued here, unless a client deleted it.
    pub(super) fn find(&self, id: &str) -> Option<Answered> {
        let found = self.newest.values().find(|answered| answered.id() == id);
        found.filter(|answered| !answered.is_deleted()).cloned()
    }

    /// A response is complete, and takes the place of the one before it.
    pub(super) fn put(&mut self, stream_id: Option<&str>, answered: Answered) {
        self.newest.insert(stream_id.map(str::to_owned), answered);
    }

    /// A request that continued this response failed: nothing can continue it any more.
    pub(super) fn evict(&mut self, id: &str) {
        self.newest.retain(|_, answered| answered.id() != id);
    }
}
