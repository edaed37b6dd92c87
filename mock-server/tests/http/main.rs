//! The server as a client sees it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

mod chat;
mod delivery;
mod endpoints;
mod lookup;
mod messages;
mod routing;
mod serve;
mod stream;
mod support;
