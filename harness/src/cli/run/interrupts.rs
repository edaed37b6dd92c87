//! The caller's wish to end early.

use tokio::sync::watch;

use crate::cli::Status;
use crate::cli::signals::signals;

/// Turns true at the first interrupt or termination signal. The second one ends the process at
/// once; the keepers end what it leaves running.
pub(crate) fn watch_interrupts() -> anyhow::Result<watch::Receiver<bool>> {
    let mut signals = signals()?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        signals.recv().await;
        sender.send_replace(true);
        anstream::eprintln!("interrupted: ending what runs; once more ends at once");
        signals.recv().await;
        std::process::exit(i32::from(Status::Interrupted.code()));
    });
    Ok(receiver)
}
