//! Accepting connections and speaking HTTP/1.1 on each.

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::delivery::Endings;
use super::dispatch::dispatch;
use super::hangup::{HangUp, Resettable};
use super::sessions::Sessions;
use super::socket::Socket;

/// The task that accepts connections.
#[derive(Debug)]
pub(super) struct Accepting {
    stop: watch::Sender<bool>,
    stopped: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl Accepting {
    /// Closes the listener and drops every connection; returns when that is done. May be called
    /// more than once.
    pub(super) async fn stop(&self) {
        self.stop.send_replace(true);
        // An error means that the task is gone, and the listener and connections with it.
        let _ = self.stopped.clone().wait_for(|stopped| *stopped).await;
    }
}

impl Drop for Accepting {
    fn drop(&mut self) {
        // The task owns the listener and the connections.
        self.task.abort();
    }
}

/// Accepts connections until told to stop.
pub(super) fn accept(listener: TcpListener, sessions: Arc<Sessions>) -> Accepting {
    let (stop, mut stop_asked) = watch::channel(false);
    let (done, stopped) = watch::channel(false);
    let task = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                _ = stop_asked.changed() => break,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        // Without it, every small write after the first waits for the client's
                        // delayed acknowledgement. Refused only by a socket that is dead already.
                        let _ = stream.set_nodelay(true);
                        connections.spawn(serve(stream, Arc::clone(&sessions)));
                    }
                    Err(error) => recover(&error).await,
                },
            }
        }
        drop(listener);
        connections.shutdown().await;
        done.send_replace(true);
    });
    Accepting { stop, stopped, task }
}

/// After a failed accept: the client left early, or the process has no descriptor free. In the
/// second case the same error would come again at once until one is closed.
async fn recover(error: &io::Error) {
    let client_left = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    );
    if !client_left {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Answers the requests of one connection, one after another.
pub(super) async fn serve(stream: impl Resettable, sessions: Arc<Sessions>) {
    let (endings, hang_up) = (Endings::default(), HangUp::default());
    let service = service_fn(|mut request: Request<Incoming>| {
        let (sessions, endings) = (Arc::clone(&sessions), endings.clone());
        // For a fault that ends the connection.
        request.extensions_mut().insert(hang_up.clone());
        async move { Ok::<_, Infallible>(dispatch(&sessions, request, endings).await) }
    });
    let socket = TokioIo::new(Socket::new(stream, endings.clone(), hang_up.clone()));
    // An error means that the client left or sent something that is not HTTP. Whether an answer
    // reached it is in the journal: what follows each answer notes it when it is dropped.
    let _ = http1::Builder::new()
        // A clock in the headers would make two runs differ.
        .auto_date_header(false)
        // The socket must see where a chunk ends.
        .writev(true)
        .serve_connection(socket, service)
        .await;
}
