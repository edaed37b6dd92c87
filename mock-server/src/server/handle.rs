//! A running server.

use std::net::SocketAddr;
use std::sync::Arc;

use super::builder::Builder;
use super::connection::Accepting;
use super::state::State;
use super::verify::{self, Report};
use crate::gate::Gates;
use crate::journal::Journal;
use crate::script::Script;

/// A running server. Dropping it closes its listener and its connections.
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    state: Arc<State>,
    accepting: Accepting,
}

impl MockServer {
    /// A server for a script, to be started by [`Builder::start`].
    pub fn builder(script: Script) -> Builder {
        Builder::new(script)
    }

    pub(super) fn new(address: SocketAddr, state: Arc<State>, accepting: Accepting) -> Self {
        Self { address, state, accepting }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The root URL, such as `http://127.0.0.1:4010`: pages and sinks stand under it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The URL to give to a client as its provider's base, such as `http://127.0.0.1:4010/v1`.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Everything that arrived, and what became of it.
    pub fn journal(&self) -> &Journal {
        &self.state.journal
    }

    /// The gates that replies wait for.
    pub fn gates(&self) -> &Gates {
        &self.state.gates
    }

    /// The script served.
    pub fn script(&self) -> &Script {
        &self.state.script
    }

    /// The turns that no request has taken: index into [`Script::turns`] and label.
    pub fn unused_turns(&self) -> Vec<(usize, String)> {
        let unused = self.state.queues().unused();
        unused.into_iter().map(|turn| (turn, self.state.script.turns[turn].label.clone())).collect()
    }

    /// Compares what happened with the script: every turn taken and delivered, no request
    /// without a turn.
    ///
    /// # Errors
    /// All that does not fit.
    pub fn verify(&self) -> Result<(), Report> {
        let unused_sockets = self.state.sockets.unused(&self.state.script);
        verify::verify(&self.state.journal.snapshot(), self.unused_turns(), unused_sockets)
    }

    /// Panics unless [`verify`](Self::verify) holds: the last line of a test.
    ///
    /// # Panics
    /// With the report, when something does not fit.
    #[expect(clippy::panic, reason = "an assertion for tests")]
    #[track_caller]
    pub fn assert_finished(&self) {
        if let Err(report) = self.verify() {
            panic!("{report}");
        }
    }

    /// Closes the listener and drops every connection, even in the middle of a reply. May be
    /// called more than once; the journal stays.
    pub async fn shutdown(&self) {
        self.accepting.stop().await;
    }
}
