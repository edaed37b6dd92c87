//! The Messages wire: writing a reply as events or as one object.
//!
//! The shapes follow the public API reference of `Anthropic` Messages. Each item of a reply is one
//! content block:
//!
//! | item | block |
//! | --- | --- |
//! | text | `text` |
//! | call | `tool_use`; free-form input, which the wire does not have, stands under the key `input` |
//! | reasoning with a summary | `thinking`: the summary's texts with a blank line between them; the opaque content is the signature |
//! | reasoning without a summary | `redacted_thinking` if there is opaque content, else a `thinking` block that is empty |
//!
//! A thinking block always has a signature: where none is scripted, one is made like an id.

mod block;
mod message;
mod stream;
mod usage;

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

/// The reply as one message object. Call arguments that are no JSON stand there as a string.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> serde_json::Result<Bytes> {
    let blocks = block::blocks(reply, ids)?;
    let id = ids.response(Wire::Messages);
    let message = message::Message::finished(&id, request.model(), &blocks, reply.usage);
    serde_json::to_vec(&message).map(Bytes::from)
}
