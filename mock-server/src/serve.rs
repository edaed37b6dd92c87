//! The server as a program of its own: `conform serve`.

use std::net::{Ipv4Addr, SocketAddr};

use serde::Serialize;
use serde_json::json;

use crate::client_verdict::{Thresholds, grade};
use crate::journal::{Counts, Exchange, JournalLimits};
use crate::script::Script;
use crate::server::{Control, Mismatch, MockServer, Session, SessionKey, StartError, Token};

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What the default session plays.
    pub script: Script,
    /// The secret that opens the control API; without one, all who reach the server may use it.
    pub token: Option<Token>,
    /// How much of each session's journal stays in memory.
    pub journal: JournalLimits,
}

impl ServeOptions {
    /// Serves a script on a free port of 127.0.0.1, with no token and no limit.
    pub fn of(script: Script) -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self { listen, script, token: None, journal: JournalLimits::default() }
    }
}

/// Why serving could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can be reached from other machines, and there is no token.
    #[error(
        "{address} can be reached from other machines, and anyone could load scripts or read what \
         a client sends; listen on 127.0.0.1 or [::1], or give a token (it guards the control API, \
         not the model endpoints)"
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
    /// The root of the control API.
    pub control_url: String,
    /// The process that serves.
    pub pid: u32,
}

/// What became of the scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Every session that was there at the end, the default one first, each since it last started
    /// afresh.
    pub sessions: Vec<SessionSummary>,
}

/// What became of one session's script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session.
    pub key: SessionKey,
    /// How many requests arrived, and what became of them.
    pub counts: Counts,
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

/// Starts to serve, with the control API. The caller prints [`Serving::ready`] and then waits on
/// [`Serving::run_until`].
///
/// # Errors
/// When the address is not loopback and there is no token, or the server cannot start.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// use conform_mock_server::script::{Reply, Script};
/// use conform_mock_server::serve::{ServeOptions, serve};
///
/// let serving = serve(ServeOptions::of(Script::of([Reply::say("Hello.")]))).await?;
/// println!("{}", serde_json::to_string(&serving.ready())?);
/// let summary = serving.run_until(async { /* a signal */ }).await;
/// assert_eq!(summary.sessions[0].unused, [(0, "turn 1".to_owned())]);
/// # Ok::<_, Box<dyn std::error::Error>>(()) })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub async fn serve(options: ServeOptions) -> Result<Serving, ServeError> {
    let ServeOptions { listen, script, token, journal } = options;
    if !listen.ip().is_loopback() && token.is_none() {
        return Err(ServeError::NotLoopback { address: listen });
    }
    let judge = |exchanges: &[Exchange]| json!(grade(exchanges, &Thresholds::default()));
    let control = token.map_or_else(Control::open, Control::guarded).client_verdict(judge);
    let server = MockServer::builder(script)
        .address(listen)
        .journal(journal)
        .control(control)
        .start()
        .await?;
    Ok(Serving { server })
}

impl Serving {
    /// What to print now that connections are accepted.
    pub fn ready(&self) -> Ready {
        let url = self.server.url();
        Ready {
            ready: true,
            base_url: self.server.base_url(),
            control_url: format!("{url}/__conform"),
            url,
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
        Summary { sessions: self.server.sessions().iter().map(SessionSummary::of).collect() }
    }
}

impl SessionSummary {
    fn of(session: &Session) -> Self {
        Self {
            key: session.key().clone(),
            counts: session.journal().counts(),
            unused: session.unused_turns(),
            mismatches: session.verify().err().map_or_else(Vec::new, |report| report.mismatches),
        }
    }
}
