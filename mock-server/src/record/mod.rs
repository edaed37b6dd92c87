//! Recording: a proxy that passes real traffic through and writes down what the model said, as a
//! script.
//!
//! A recorded script is played like any other. It holds replies, and how a client's wish for a
//! `WebSocket` was answered: no request is written down, and of the headers only those of such an
//! answer that say how the client is to go on. What looks like a secret is taken out before anything
//! reaches the disk, and so is every credential that the client sent, wherever it comes back.
//!
//! What a script cannot say (a refusal of a request, an item of a hosted tool) is passed
//! through all the same; the script then says in a comment what is missing, and the
//! [`RecordSummary`] counts it.

mod cassette;
mod forward;
mod handshake;
mod note;
mod proxy;
mod read;
mod relay;
mod scrub;
mod tee;
mod upstream;

pub use proxy::{RecordError, RecordOptions, RecordReady, RecordSummary, Recording, record};
pub use scrub::{BadPattern, Scrubber};
pub use upstream::{BadUpstream, Upstream};

/// Reads a recorded reply and lets it go.
#[cfg(fuzzing)]
pub(crate) fn read_and_drop(wire: crate::wire::Wire, body: &[u8]) {
    drop(read::read(wire, body));
}
