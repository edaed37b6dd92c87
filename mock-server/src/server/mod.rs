//! The server: it accepts connections, finds the reply to each request, writes it, and keeps the
//! journal.

mod answer;
mod builder;
mod connection;
mod delivery;
mod endpoint;
mod handle;
mod lookup;
mod matching;
mod reply_body;
mod request_body;
mod routing;
mod socket;
mod state;
mod verify;

pub use builder::{Builder, StartError};
pub use handle::MockServer;
pub use verify::{Mismatch, Report};
