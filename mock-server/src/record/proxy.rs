//! The recorder as a program of its own: `conform record`.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{ClientConfig, RootCertStore};
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::cassette::{Cassette, Figures};
use super::forward::{Recorder, forward};
use super::relay::Opening;
use super::scrub::Scrubber;
use super::upstream::Upstream;

/// What to record, and where.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The real service.
    pub upstream: Upstream,
    /// The script to write.
    pub out: PathBuf,
    /// Whether a file of that name may be replaced.
    pub replace: bool,
    /// What is taken out of replies before they are written.
    pub scrubber: Scrubber,
}

/// Why recording failed.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Others could send requests with credentials of their own, or use those of the service.
    #[error("{address} can be reached from other machines; record on 127.0.0.1 or [::1]")]
    NotLoopback {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}; choose another port, or 0 for a free one")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// The system's reason.
        reason: io::Error,
    },
    /// The file exists.
    #[error("{} exists already; name another file, or say that it may be replaced", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// The certificates that the machine trusts cannot be read.
    #[error("cannot read the certificates that this machine trusts, to reach {upstream}: {reason}")]
    Certificates {
        /// The real service.
        upstream: Upstream,
        /// The system's reason.
        reason: io::Error,
    },
}

/// What a caller prints, as one line of JSON, when the recorder accepts connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordReady {
    /// Always true: it tells this line from others.
    pub ready: bool,
    /// The URL to give to a client instead of the real service's.
    pub base_url: String,
    /// The real service.
    pub upstream: String,
    /// The process that records.
    pub pid: u32,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSummary {
    /// How many turns the script has.
    pub turns: usize,
    /// Each reply, or part of one, that is not in the script, and why.
    pub missing: Vec<String>,
}

/// A recorder that runs until it is told to stop.
#[derive(Debug)]
pub struct Recording {
    listener: TcpListener,
    address: SocketAddr,
    recorder: Arc<Recorder>,
    out: PathBuf,
}

/// Starts to record. The caller prints [`Recording::ready`] and then waits on
/// [`Recording::run_until`].
///
/// # Errors
/// When the address is not loopback or taken, when the file exists or cannot be made, or when the
/// service asks for TLS and this machine trusts no certificate.
pub async fn record(options: RecordOptions) -> Result<Recording, RecordError> {
    let RecordOptions { listen: address, upstream, out, replace, scrubber } = options;
    if !address.ip().is_loopback() {
        return Err(RecordError::NotLoopback { address });
    }
    let connector = HttpsConnectorBuilder::new();
    let connector = if upstream.is_encrypted() {
        connector.with_native_roots().map_err(|reason| {
            let upstream = upstream.clone();
            RecordError::Certificates { upstream, reason }
        })?
    } else {
        // No certificate is needed, so a machine that has none will do.
        let trusts_none = RootCertStore::empty();
        let config = ClientConfig::builder().with_root_certificates(trusts_none);
        connector.with_tls_config(config.with_no_client_auth())
    };
    let connector = connector.https_or_http().enable_http1().build();
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let cannot_listen = |reason| RecordError::Listen { address, reason };
    let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    let cassette = Cassette::create(&out, replace).map_err(|reason| {
        let path = out.clone();
        match reason.kind() {
            io::ErrorKind::AlreadyExists => RecordError::Exists { path },
            _ => RecordError::Write { path, reason },
        }
    })?;
    let recorder = Recorder { upstream, client, scrubber, cassette: Arc::new(cassette) };
    Ok(Recording { listener, address, recorder: Arc::new(recorder), out })
}

impl Recording {
    /// What to print now that connections are accepted.
    pub fn ready(&self) -> RecordReady {
        let upstream = &self.recorder.upstream;
        RecordReady {
            ready: true,
            base_url: format!("http://{}{}", self.address, upstream.path()),
            upstream: upstream.to_string(),
            pid: std::process::id(),
        }
    }

    /// Records until `shutdown` resolves, then closes every connection and ends the script.
    ///
    /// # Errors
    /// When the script could not be written whole.
    pub async fn run_until(
        self,
        shutdown: impl Future<Output = ()>,
    ) -> Result<RecordSummary, RecordError> {
        let mut connections = JoinSet::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept() => {
                    // A failed accept: the client left early. It may come again.
                    if let Ok((stream, _)) = accepted {
                        connections.spawn(serve(stream, Arc::clone(&self.recorder)));
                    }
                }
            }
        }
        // Replies that are still being passed on are cut short, and noted as that.
        connections.shutdown().await;
        let Figures { turns, missing } = self
            .recorder
            .cassette
            .end()
            .map_err(|reason| RecordError::Write { path: self.out, reason })?;
        Ok(RecordSummary { turns, missing })
    }
}

/// Passes on the requests of one connection, one after another, and then, where one of them opened
/// it, what goes over its `WebSocket`.
async fn serve(stream: TcpStream, recorder: Arc<Recorder>) {
    // Each event is to reach the client when it comes. Refused only by a socket that is dead.
    let _ = stream.set_nodelay(true);
    let opening = Opening::default();
    let service = service_fn(|request| {
        let (recorder, opening) = (Arc::clone(&recorder), opening.clone());
        async move { Ok::<_, Infallible>(forward(recorder, request, &opening).await) }
    });
    // An error means that one of both ends left; what that means for the script is noted.
    let _ = http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Some(relay) = opening.take() {
        relay.run().await;
    }
}
