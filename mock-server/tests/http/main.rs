//! The server as a client sees it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

mod chat;
mod control;
mod delivery;
mod endpoints;
mod live;
mod lookup;
mod messages;
mod record;
mod routing;
mod serve;
mod sessions;
mod stream;
mod support;
