//! How a server is made.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use super::connection;
use super::control::Control;
use super::handle::MockServer;
use super::sessions::Sessions;
use super::state::State;
use crate::gate::Gates;
use crate::journal::JournalLimits;
use crate::provider::Provider;
use crate::script::Script;
use crate::validate::Validation;

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is in use.
    #[error("{address} is taken by another process; choose another port, or 0 for a free one")]
    Taken {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The address cannot be listened on for another reason.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The listener handed in cannot be used.
    #[error("the listener handed in cannot be used: {source}")]
    Listener {
        /// The system's reason.
        source: io::Error,
    },
    /// A reply of the script sets a header that cannot be sent.
    #[error("{reply} sets the header `{header}`: {reason}")]
    Header {
        /// Which reply: a turn's label or a side reply's purpose.
        reply: String,
        /// The header's name.
        header: String,
        /// Why it cannot be sent.
        reason: &'static str,
    },
    /// The journal's folder cannot be written to.
    #[error(
        "the journal cannot spill to {}: {reason}; name a folder that exists and can be written to",
        folder.display()
    )]
    Spill {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// A page's content type cannot be sent.
    #[error("page `{page}` has a content type that is no header value: {content_type:?}")]
    ContentType {
        /// The page's name.
        page: String,
        /// The content type.
        content_type: String,
    },
}

/// A server that has not started.
#[derive(Debug)]
pub struct Builder {
    script: Script,
    place: Place,
    gates: Gates,
    limits: JournalLimits,
    control: Option<Control>,
}

/// Where the server listens.
#[derive(Debug)]
enum Place {
    Address(SocketAddr),
    Listener(TcpListener),
}

impl Builder {
    pub(super) fn new(script: Script) -> Self {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            script,
            place: Place::Address(any_port),
            gates: Gates::default(),
            limits: JournalLimits::default(),
            control: None,
        }
    }

    /// Listens on this address instead of a free port of `127.0.0.1`.
    #[must_use]
    pub fn address(self, address: SocketAddr) -> Self {
        Self { place: Place::Address(address), ..self }
    }

    /// Uses a listener that is already bound. It may belong to another network namespace: it is
    /// taken as it is and never bound again.
    #[must_use]
    pub fn listener(self, listener: TcpListener) -> Self {
        Self { place: Place::Listener(listener), ..self }
    }

    /// Shares these gates, so that they can be opened from elsewhere or be open from the start.
    #[must_use]
    pub fn gates(self, gates: Gates) -> Self {
        Self { gates, ..self }
    }

    /// Plays a provider, in place of the one that the script names.
    #[must_use]
    pub fn provider(mut self, provider: Provider) -> Self {
        self.script.provider = Some(provider);
        self
    }

    /// Demands what this says of requests, in place of what the script says.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.script.validation = validation;
        self
    }

    /// Bounds the memory of each session's journal.
    #[must_use]
    pub fn journal(self, limits: JournalLimits) -> Self {
        Self { limits, ..self }
    }

    /// Answers the control API under `/__conform/`. Without this, nobody who reaches the server
    /// over the network can change or read what it holds.
    #[must_use]
    pub fn control(self, control: Control) -> Self {
        Self { control: Some(control), ..self }
    }

    /// Starts to listen; when this returns, connections are accepted.
    ///
    /// # Errors
    /// When the address is taken or cannot be used, when the script holds a header that cannot be
    /// sent, or when the journal's folder cannot be written to.
    #[expect(
        clippy::unused_async,
        reason = "it must run inside a runtime, which a caller sees by this"
    )]
    pub async fn start(self) -> Result<MockServer, StartError> {
        if let Some(folder) = &self.limits.spill {
            tempfile::tempfile_in(folder)
                .map_err(|reason| StartError::Spill { folder: folder.clone(), reason })?;
        }
        let state = State::new(self.script, self.gates, self.limits.clone())?;
        let listener = match self.place {
            Place::Listener(listener) => listener,
            Place::Address(address) => {
                TcpListener::bind(address).map_err(|source| match source.kind() {
                    io::ErrorKind::AddrInUse => StartError::Taken { address },
                    _ => StartError::Bind { address, source },
                })?
            }
        };
        let unusable = |source| StartError::Listener { source };
        listener.set_nonblocking(true).map_err(unusable)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let state = Arc::new(state);
        let url = format!("http://{address}");
        let sessions = Sessions::new(url, Arc::clone(&state), self.limits, self.control);
        let sessions = Arc::new(sessions);
        let accepting = connection::accept(listener, Arc::clone(&sessions));
        Ok(MockServer::new(address, state, sessions, accepting))
    }
}
