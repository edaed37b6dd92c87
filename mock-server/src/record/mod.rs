//! Recording: a proxy that passes real traffic through and writes down what the model said, as a
//! script.
//!
//! A recorded script is played like any other. It holds replies alone: no request and no header
//! of either side is written down. What looks like a secret in a reply is taken out before
//! anything reaches the disk, and so is every credential that the client sent, wherever it comes
//! back.
//!
//! What a script cannot say (a refusal with an HTTP status, an item of a hosted tool) is passed
//! through all the same; the script then says in a comment what is missing, and the
//! [`RecordSummary`] counts it.

mod cassette;
mod forward;
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
