//! The Responses wire: one streamed request, and the reply that its events add up to.

mod client;
mod reply;
mod sse;

pub(crate) use client::{Client, ClientError};
pub(crate) use reply::{CallKind, Heard, ModelCall, Reply, hear};
