//! A running server.

use std::net::SocketAddr;
use std::sync::Arc;

use super::builder::{Builder, StartError};
use super::connection::Accepting;
use super::session::{Session, SessionKey};
use super::sessions::Sessions;
use super::state::State;
use super::verify::{self, Report};
use crate::gate::Gates;
use crate::journal::Journal;
use crate::script::Script;

/// A running server. Dropping it closes its listener and its connections.
///
/// Its own methods speak of the default session as the server started with it; only a
/// [`reset`](Session::reset) or [`load`](Session::load) of that session, here or over the control
/// API, leaves them behind. More sessions are made by [`load_session`](Self::load_session).
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    /// What the default session played at the start.
    state: Arc<State>,
    sessions: Arc<Sessions>,
    accepting: Accepting,
}

impl MockServer {
    /// A server for a script, to be started by [`Builder::start`].
    pub fn builder(script: Script) -> Builder {
        Builder::new(script)
    }

    pub(super) fn new(
        address: SocketAddr,
        state: Arc<State>,
        sessions: Arc<Sessions>,
        accepting: Accepting,
    ) -> Self {
        Self { address, state, sessions, accepting }
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
        self.state.unused_turns()
    }

    /// Compares what happened with the script: every turn taken and delivered, no request
    /// without a turn.
    ///
    /// # Errors
    /// All that does not fit.
    pub fn verify(&self) -> Result<(), Report> {
        verify::verify(&self.state.journal, self.unused_turns())
    }

    /// A session by its key; the one of requests that name none has the key `default`.
    pub fn session(&self, key: &SessionKey) -> Option<Session> {
        self.sessions.get(key)
    }

    /// All sessions: the default one first, the others as they were made.
    pub fn sessions(&self) -> Vec<Session> {
        self.sessions.all()
    }

    /// Makes a session that plays this script; a session that has the key already plays it from
    /// now on.
    ///
    /// # Errors
    /// When the script holds something that cannot be sent; nothing changes then.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// use conform_mock_server::script::{Reply, Script};
    /// use conform_mock_server::server::MockServer;
    ///
    /// let server = MockServer::builder(Script::default()).start().await?;
    /// let one = server.load_session("one".parse()?, Script::of([Reply::say("From one.")]))?;
    /// let answer = reqwest::Client::new()
    ///     .post(format!("{}/responses", one.base_url()))
    ///     .body(r#"{"model": "any", "input": "Hello"}"#)
    ///     .send()
    ///     .await?
    ///     .text()
    ///     .await?;
    /// assert!(answer.contains("From one."));
    /// assert!(server.journal().is_empty() && one.verify().is_ok());
    /// # Ok::<_, Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_session(&self, key: SessionKey, script: Script) -> Result<Session, StartError> {
        self.sessions.load(key, script).map(|(session, _)| session)
    }

    /// Takes a session away; tells whether there was one. The default session stays.
    pub fn remove_session(&self, key: &SessionKey) -> bool {
        self.sessions.remove(key).is_some()
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
