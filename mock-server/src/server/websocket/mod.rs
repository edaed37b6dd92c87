//! The Responses API over a `WebSocket`: upgrade requests, and what goes on on a connection.
//!
//! One connection answers one request at a time, in the order in which they come. It remembers the
//! newest response of each of its streams, so that a request can continue it although nothing is
//! stored.

mod conversation;
mod create;
mod deflate;
mod handshake;
mod lanes;
mod reply;
mod state;
mod steps;

#[cfg(fuzzing)]
pub(crate) use create::read_and_drop;
#[cfg(fuzzing)]
pub(crate) use deflate::read_and_drop as read_compressed_and_drop;
pub(super) use handshake::{Opening, is_upgrade, upgrade};
pub(super) use state::Sockets;
