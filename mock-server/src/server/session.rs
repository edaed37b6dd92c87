//! Sessions: each client of a server with a script, a journal and gates of its own.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::builder::StartError;
use super::state::State;
use super::verify::{self, Report};
use crate::gate::Gates;
use crate::journal::{Journal, JournalLimits};
use crate::script::Script;

/// A session's name: 1 to 128 letters, digits, `-`, `.`, `_` and `~`, not dots alone. It stands in
/// paths and headers as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(String);

/// Why a text is no session key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no session key; use 1 to 128 letters, digits, `-`, `.`, `_` and `~`, not dots \
     alone"
)]
pub struct BadSessionKey {
    text: String,
}

impl SessionKey {
    /// The session of requests that name none.
    pub fn default_session() -> Self {
        Self("default".to_owned())
    }

    /// The key as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionKey {
    type Err = BadSessionKey;

    fn from_str(text: &str) -> Result<Self, BadSessionKey> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        let length = (1..=128).contains(&text.len());
        // A client that tidies up paths would take `.` and `..` out of them.
        if length && text.chars().all(plain) && text.chars().any(|c| c != '.') {
            return Ok(Self(text.to_owned()));
        }
        Err(BadSessionKey { text: text.chars().take(128).collect() })
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A handle on a session of a running server.
///
/// A session plays its script once. [`load`](Self::load) and [`reset`](Self::reset) start it
/// afresh: all turns wait again, the gates are shut and the journal is empty. Requests that were
/// waiting for a gate are then answered with status 503; journals and gates that were handed out
/// before stay with what they belonged to.
#[derive(Debug, Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    key: SessionKey,
    /// The server's root URL.
    url: String,
    limits: JournalLimits,
    run: Mutex<Run>,
}

/// One time through a script.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) state: Arc<State>,
    /// Turns true when the session is started afresh or taken away.
    pub(super) ended: watch::Sender<bool>,
}

impl Run {
    fn new(state: Arc<State>) -> Self {
        Self { state, ended: watch::Sender::new(false) }
    }

    /// Waits until this time through the script is over.
    pub(super) async fn over(&self) {
        // The sender lives in `self`, so this cannot end by a closed channel.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}

impl Session {
    pub(super) fn new(
        key: SessionKey,
        url: String,
        limits: JournalLimits,
        state: Arc<State>,
    ) -> Self {
        let run = Mutex::new(Run::new(state));
        Self { inner: Arc::new(Inner { key, url, limits, run }) }
    }

    /// Its key.
    pub fn key(&self) -> &SessionKey {
        &self.inner.key
    }

    /// The URL to give to a client as its provider's base: every request under it belongs to this
    /// session.
    pub fn base_url(&self) -> String {
        format!("{}/s/{}/v1", self.inner.url, self.inner.key)
    }

    /// The script it plays.
    pub fn script(&self) -> Script {
        self.state().script.clone()
    }

    /// Everything that arrived since it last started.
    pub fn journal(&self) -> Journal {
        self.state().journal.clone()
    }

    /// The gates that its replies wait for.
    pub fn gates(&self) -> Gates {
        self.state().gates.clone()
    }

    /// The turns that no request has taken: index into [`Script::turns`] and label.
    pub fn unused_turns(&self) -> Vec<(usize, String)> {
        self.state().unused_turns()
    }

    /// Compares what happened since it last started with the script.
    ///
    /// # Errors
    /// All that does not fit.
    pub fn verify(&self) -> Result<(), Report> {
        let state = self.state();
        verify::verify(&state.journal, state.unused_turns())
    }

    /// Plays another script from now on.
    ///
    /// # Errors
    /// When the script holds something that cannot be sent; the session goes on as it was then.
    pub fn load(&self, script: Script) -> Result<(), StartError> {
        let state = State::new(script, Gates::default(), self.inner.limits.clone())?;
        self.start(Arc::new(state));
        Ok(())
    }

    /// Plays its script again from the start.
    pub fn reset(&self) {
        let state = self.state().afresh(self.inner.limits.clone());
        self.start(Arc::new(state));
    }

    fn start(&self, state: Arc<State>) {
        let before = std::mem::replace(&mut *self.lock(), Run::new(state));
        before.ended.send_replace(true);
    }

    /// Ends what is going on: the session is taken away.
    pub(super) fn end(&self) {
        self.lock().ended.send_replace(true);
    }

    pub(super) fn run(&self) -> Run {
        self.lock().clone()
    }

    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.lock().state)
    }

    fn lock(&self) -> MutexGuard<'_, Run> {
        // Each change is one assignment, so a panic leaves it whole.
        self.inner.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_need_no_escapes_in_paths_and_headers() {
        for text in ["a", "case-1.variant_2~", "..a", &"k".repeat(128)] {
            assert_eq!(text.parse::<SessionKey>().unwrap().as_str(), text);
        }
        for text in ["", ".", "..", "a/b", "a b", "ä", "a%20", &"k".repeat(129)] {
            assert!(text.parse::<SessionKey>().is_err(), "{text:?}");
        }
    }
}
