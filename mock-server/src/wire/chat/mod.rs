//! The Chat Completions wire: writing a reply as chunks or as one object.
//!
//! The shapes follow the public API reference of `OpenAI` Chat Completions, with
//! `reasoning_content` as `DeepSeek`, Qwen, Kimi and vLLM have it.
//!
//! The wire has one message where a reply may have many items: texts are put together with a blank
//! line between them, and so is reasoning. What it has no place for is not sent: opaque reasoning
//! content, phases and namespaces.

mod completion;
mod message;
mod stream;
mod usage;

use bytes::Bytes;

use super::{Ids, Request};
use crate::script::Reply;

/// The reply as a stream: one frame a chunk, and one for its end.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn stream(
    request: &Request<'_>,
    reply: &Reply,
    ids: Ids,
) -> serde_json::Result<Vec<Bytes>> {
    stream::chunks(request, reply, ids)
}

/// The reply as one completion object.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> serde_json::Result<Bytes> {
    completion::write(request, reply, ids)
}
