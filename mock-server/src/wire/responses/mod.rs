//! The Responses wire over HTTP: reading a request, writing a reply as an event sequence or as
//! one object.
//!
//! The shapes follow the public API reference of `OpenAI` Responses and the Open Responses
//! specification, which requires the whole Response object in every snapshot.

mod item;
mod response;
mod stream;

use bytes::Bytes;

use super::{Ids, Request, Wire};
use crate::script::Reply;

/// The reply as a stream: one frame an event.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn stream(
    request: &Request<'_>,
    reply: &Reply,
    ids: Ids,
) -> serde_json::Result<Vec<Bytes>> {
    stream::events(request, reply, ids)
}

/// The reply as one Response object.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> serde_json::Result<Bytes> {
    let items = item::output(reply, ids)?;
    let finished: Vec<_> = items.iter().map(item::Output::finished).collect();
    let echo = response::echo(request)?;
    let mut body = Vec::with_capacity(1024 + echo.len());
    response::write_snapshot(
        &mut body,
        &response::Snapshot::completed(&ids.response(Wire::Responses), &finished, reply.usage),
        &echo,
    )?;
    Ok(Bytes::from(body))
}
