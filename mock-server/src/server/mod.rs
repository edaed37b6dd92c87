//! The server: it accepts connections, finds the reply to each request, writes it, and keeps the
//! journal.

mod answer;
mod builder;
mod chain;
mod connection;
mod control;
mod deliver;
mod delivery;
mod dispatch;
mod endpoint;
mod handle;
mod hangup;
mod lookup;
mod matching;
mod reply_body;
mod request_body;
mod routing;
mod session;
mod sessions;
mod socket;
mod state;
mod steps;
mod store;
mod stored;
mod verify;
mod websocket;

pub use builder::{Builder, StartError};
pub use control::{BadToken, Control, Token};
pub(crate) use endpoint::model_wire;
pub use handle::MockServer;
pub(crate) use request_body::decoded;
pub use session::{BadSessionKey, Session, SessionKey};
pub use verify::{Mismatch, Report};
#[cfg(fuzzing)]
pub(crate) use websocket::{read_and_drop, read_compressed_and_drop};
