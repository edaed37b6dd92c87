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
mod endings;
mod endpoints;
mod faults;
mod framing;
mod judged;
mod live;
mod lookup;
mod messages;
mod raw;
mod record;
mod routing;
mod serve;
mod sessions;
mod sse;
mod stored;
mod stream;
mod support;
