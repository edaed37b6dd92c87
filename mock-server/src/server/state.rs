//! What all connections of a server share.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::HeaderValue;

use super::builder::StartError;
use super::routing::Queues;
use super::store::Store;
use super::websocket::Sockets;
use crate::gate::Gates;
use crate::journal::{Journal, JournalLimits};
use crate::provider::{Provider, UsageForm};
use crate::script::{Script, header_problem};
use crate::validate::{Service, Validator};
use crate::wire::Wire;

/// The largest request body taken, before and after decoding.
pub(super) const BODY_LIMIT: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct State {
    pub(super) script: Script,
    pub(super) gates: Gates,
    pub(super) journal: Journal,
    pub(super) started: Instant,
    pub(super) sockets: Sockets,
    /// The responses that a client may ask for again.
    pub(super) store: Store,
    /// How many histories were compacted.
    pub(super) compactions: AtomicU64,
    pub(super) validator: Validator,
    /// What is known of the service that is played.
    pub(super) service: Service,
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
            let name = || format!("turn `{}`", turn.label);
            check_headers(&turn.reply.headers, name)?;
            for status in turn.faults.iter().filter_map(|rule| rule.fault.status.as_ref()) {
                check_headers(&status.headers, name)?;
            }
        }
        for (purpose, reply) in &script.side_replies {
            check_headers(&reply.headers, || format!("the side reply of `{purpose}`"))?;
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
            check_headers(&connection.handshake.headers, || {
                format!("WebSocket connection {number}")
            })?;
        }
        Ok(Self::start(script, gates, limits))
    }

    /// The same script from its start: every turn waits, every gate is shut, nothing has arrived.
    pub(super) fn afresh(&self, limits: JournalLimits) -> Self {
        Self::start(self.script.clone(), Gates::default(), limits)
    }

    fn start(script: Script, gates: Gates, limits: JournalLimits) -> Self {
        let queues = Mutex::new(Queues::new(&script));
        let rules = script.validation.rules(script.provider.as_ref().map(Provider::rules));
        let own = &script.validation.service;
        let service = match &script.provider {
            Some(provider) => own.or(&provider.service),
            None => own.clone(),
        };
        Self {
            gates,
            journal: Journal::new(limits),
            started: Instant::now(),
            sockets: Sockets::default(),
            store: Store::default(),
            compactions: AtomicU64::new(0),
            validator: Validator::new(rules, service.clone()),
            service,
            queues,
            script,
        }
    }

    /// Whether the service that is played speaks a wire.
    pub(super) fn speaks(&self, wire: Wire) -> bool {
        self.script.provider.as_ref().is_none_or(|provider| provider.speaks(wire))
    }

    /// What the service that is played reports of usage.
    pub(super) fn usage(&self) -> UsageForm {
        self.script.provider.as_ref().map_or(UsageForm::default(), |provider| provider.usage)
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

fn check_headers(
    headers: &[(String, String)],
    name: impl Fn() -> String,
) -> Result<(), StartError> {
    for (header, value) in headers {
        if let Some(reason) = header_problem(header, value) {
            return Err(StartError::Header { reply: name(), header: header.clone(), reason });
        }
    }
    Ok(())
}
