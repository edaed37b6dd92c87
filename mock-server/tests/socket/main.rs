//! Responses over a `WebSocket`, as a client sees it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

mod chain;
mod compression;
mod faults;
mod handshake;
mod laws;
mod messages;
mod record;
mod stored;
mod support;
