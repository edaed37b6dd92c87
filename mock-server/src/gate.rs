//! Gates: named points where a reply waits until a test opens them.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::watch;

/// The set of open gates, shared by the server and whoever opens them.
///
/// A gate that was opened stays open; opening it again changes nothing.
#[derive(Debug, Clone)]
pub struct Gates {
    open: Arc<watch::Sender<HashSet<String>>>,
}

impl Default for Gates {
    fn default() -> Self {
        Self { open: Arc::new(watch::Sender::new(HashSet::new())) }
    }
}

impl Gates {
    /// Opens a gate: replies that wait for it go on.
    pub fn open(&self, name: &str) {
        self.open.send_if_modified(|open| open.insert(name.to_owned()));
    }

    /// The names of all open gates, in order.
    pub fn open_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.open.borrow().iter().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Whether a gate is open.
    pub fn is_open(&self, name: &str) -> bool {
        self.open.borrow().contains(name)
    }

    /// Waits until a gate is open.
    pub async fn wait(&self, name: &str) {
        let mut changes = self.open.subscribe();
        // The sender lives in `self`, so this cannot end by a closed channel.
        let _ = changes.wait_for(|open| open.contains(name)).await;
    }
}
