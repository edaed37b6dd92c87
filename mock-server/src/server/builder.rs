//! How a server is made.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use super::connection;
use super::handle::MockServer;
use super::state::State;
use crate::gate::Gates;
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
        Self { script, place: Place::Address(any_port), gates: Gates::default() }
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

    /// Starts to listen; when this returns, connections are accepted.
    ///
    /// # Errors
    /// When the address is taken or cannot be used, or when the script holds a header that cannot
    /// be sent.
    #[expect(
        clippy::unused_async,
        reason = "it must run inside a runtime, which a caller sees by this"
    )]
    pub async fn start(self) -> Result<MockServer, StartError> {
        let state = State::new(self.script, self.gates)?;
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
        let accepting = connection::accept(listener, Arc::clone(&state));
        Ok(MockServer::new(address, state, accepting))
    }
}
