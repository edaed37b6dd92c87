//! The server as a program of its own: `conform serve`.

use std::net::SocketAddr;

use serde::Serialize;

use crate::journal::{Exchange, Outcome, Route};
use crate::script::Script;
use crate::server::{Mismatch, MockServer, StartError};

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What to serve.
    pub script: Script,
}

/// Why serving could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can be reached from other machines.
    #[error(
        "{address} can be reached from other machines, and anyone could take the script's \
         replies or read what a client sends; listen on 127.0.0.1 or [::1]"
    )]
    NotLoopback {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The server did not start.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// What a caller prints, as one line of JSON, when the server accepts connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// Always true: it tells this line from others.
    pub ready: bool,
    /// The root URL.
    pub url: String,
    /// The URL to give to a client as its provider's base.
    pub base_url: String,
    /// The process that serves.
    pub pid: u32,
}

/// What became of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// How many requests arrived.
    pub requests: usize,
    /// How many of them got a scripted turn.
    pub served: usize,
    /// The turns that no request took: index and label.
    pub unused: Vec<(usize, String)>,
    /// All that does not fit the script, the unused turns among it.
    pub mismatches: Vec<Mismatch>,
}

/// A server that runs until it is told to stop.
#[derive(Debug)]
pub struct Serving {
    server: MockServer,
}

/// Starts to serve. The caller prints [`Serving::ready`] and then waits on
/// [`Serving::run_until`].
///
/// # Errors
/// When the address is not loopback, or the server cannot start.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// use conform_mock_server::script::{Reply, Script};
/// use conform_mock_server::serve::{ServeOptions, serve};
///
/// let script = Script::of([Reply::say("Hello.")]);
/// let serving = serve(ServeOptions { listen: "127.0.0.1:0".parse()?, script }).await?;
/// println!("{}", serde_json::to_string(&serving.ready())?);
/// let summary = serving.run_until(async { /* a signal */ }).await;
/// assert_eq!(summary.unused, [(0, "turn 1".to_owned())]);
/// # Ok::<_, Box<dyn std::error::Error>>(()) })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub async fn serve(options: ServeOptions) -> Result<Serving, ServeError> {
    let ServeOptions { listen, script } = options;
    if !listen.ip().is_loopback() {
        return Err(ServeError::NotLoopback { address: listen });
    }
    let server = MockServer::builder(script).address(listen).start().await?;
    Ok(Serving { server })
}

impl Serving {
    /// What to print now that connections are accepted.
    pub fn ready(&self) -> Ready {
        Ready {
            ready: true,
            url: self.server.url(),
            base_url: self.server.base_url(),
            pid: std::process::id(),
        }
    }

    /// The server, to look at its journal or open its gates.
    pub fn server(&self) -> &MockServer {
        &self.server
    }

    /// Serves until `shutdown` resolves, then closes every connection and sums up.
    pub async fn run_until(self, shutdown: impl Future<Output = ()>) -> Summary {
        shutdown.await;
        self.server.shutdown().await;
        let is_served = |exchange: &Exchange| matches!(&exchange.route, Route::Model(model) if matches!(model.outcome, Outcome::Served(_)));
        let exchanges = self.server.journal().snapshot();
        let mismatches =
            self.server.verify().err().map_or_else(Vec::new, |report| report.mismatches);
        Summary {
            requests: exchanges.len(),
            served: exchanges.iter().filter(|exchange| is_served(exchange)).count(),
            unused: self.server.unused_turns(),
            mismatches,
        }
    }
}
