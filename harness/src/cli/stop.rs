//! When a server that runs in the foreground is told to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves at the first interrupt or termination signal after this was called.
///
/// # Errors
/// When the system has no room for a signal handler.
pub(crate) fn asked() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
