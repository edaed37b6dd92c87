//! The signals that ask a command to end.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Interrupts and termination signals.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

/// Listens for them from now on. To be called in a runtime.
pub(crate) fn signals() -> anyhow::Result<Signals> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    Ok(Signals {
        interrupt: listen(SignalKind::interrupt())?,
        terminate: listen(SignalKind::terminate())?,
    })
}

impl Signals {
    /// Waits for the next one.
    pub(crate) async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
