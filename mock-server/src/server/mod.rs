//! The server: it accepts connections, finds the reply to each request, writes it, and keeps the
//! journal.

mod answer;
mod builder;
mod connection;
mod deliver;
mod endpoint;
mod handle;
mod hangup;
mod lookup;
mod matching;
mod reply_body;
mod request_body;
mod routing;
mod state;
mod steps;
mod store;
mod stored;
mod verify;

pub use builder::{Builder, StartError};
pub use handle::MockServer;
pub use verify::{Mismatch, Report};
