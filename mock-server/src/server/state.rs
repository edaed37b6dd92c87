//! What all connections of a server share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::HeaderValue;

use super::builder::StartError;
use super::chain::Responses;
use super::routing::Queues;
use super::websocket::Sockets;
use crate::gate::Gates;
use crate::journal::{Journal, JournalLimits};
use crate::script::{Reply, Script, header_problem};

/// The largest request body taken, before and after decoding.
pub(super) const BODY_LIMIT: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct State {
    pub(super) script: Script,
    pub(super) gates: Gates,
    pub(super) journal: Journal,
    pub(super) started: Instant,
    pub(super) responses: Responses,
    pub(super) sockets: Sockets,
    queues: Mutex<Queues>,
}

impl State {
    /// The state of a server at its start.
    ///
    /// # Errors
    /// When the script holds something that cannot be sent.
    pub(super) fn new(
        script: Script,
        gates: Gates,
        limits: JournalLimits,
    ) -> Result<Self, StartError> {
        for turn in &script.turns {
            check_headers(&turn.reply, || format!("turn `{}`", turn.label))?;
        }
        for (purpose, reply) in &script.side_replies {
            check_headers(reply, || format!("the side reply of `{purpose}`"))?;
        }
        for (name, page) in &script.pages {
            if HeaderValue::from_str(&page.content_type).is_err() {
                return Err(StartError::ContentType {
                    page: name.clone(),
                    content_type: page.content_type.clone(),
                });
            }
        }
        for (connection, number) in script.connections.iter().zip(1_u64..) {
            check(&connection.handshake.headers, || format!("WebSocket connection {number}"))?;
        }
        Ok(Self::start(script, gates, limits))
    }

    /// The same script from its start: every turn waits, every gate is shut, nothing has arrived.
    pub(super) fn afresh(&self, limits: JournalLimits) -> Self {
        Self::start(self.script.clone(), Gates::default(), limits)
    }

    fn start(script: Script, gates: Gates, limits: JournalLimits) -> Self {
        let queues = Mutex::new(Queues::new(&script));
        Self {
            script,
            gates,
            journal: Journal::new(limits),
            started: Instant::now(),
            responses: Responses::default(),
            sockets: Sockets::default(),
            queues,
        }
    }

    /// The turns that no request has taken: index and label.
    pub(super) fn unused_turns(&self) -> Vec<(usize, String)> {
        let unused = self.queues().unused();
        unused.into_iter().map(|turn| (turn, self.script.turns[turn].label.clone())).collect()
    }

    pub(super) fn queues(&self) -> MutexGuard<'_, Queues> {
        // Each change of the queues is one assignment, so a panic leaves them whole.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_headers(reply: &Reply, name: impl Fn() -> String) -> Result<(), StartError> {
    check(&reply.headers, name)
}

fn check(headers: &[(String, String)], name: impl Fn() -> String) -> Result<(), StartError> {
    for (header, value) in headers {
        if let Some(reason) = header_problem(header, value) {
            return Err(StartError::Header { reply: name(), header: header.clone(), reason });
        }
    }
    Ok(())
}
