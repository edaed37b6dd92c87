//! The Responses wire over HTTP: reading a request, writing a reply as an event sequence or as
//! one object.
//!
//! The shapes follow the public API reference of `OpenAI` Responses and the Open Responses
//! specification, which requires the whole Response object in every snapshot.

mod extra;
mod input;
mod item;
mod minted;
mod part;
mod response;
mod socket;
mod stream;

pub(crate) use input::input_items;
pub(super) use minted::minted;
pub(crate) use socket::{SocketFrames, warm_up_reply};

use bytes::Bytes;
use serde_json::{Value, json};

use super::fit::Unfit;
use super::{Ids, Request, Wire};
use crate::script::{Reply, Usage};
use crate::wire::clock::CREATED_AT;
use item::Output;
use response::{Echo, Snapshot};

/// The reply as a stream: one frame an event.
///
/// # Errors
/// When an extra event stands before an event that there is not.
pub(crate) fn stream(request: &Request<'_>, reply: &Reply, ids: Ids) -> Result<Vec<Bytes>, Unfit> {
    extra::insert(stream::stream(request, reply, ids), &reply.extra_events)
}

/// The reply as one Response object.
pub(crate) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> Bytes {
    let output = Output::finished(&Output::all(reply, ids), &reply.ending);
    let mut body = Vec::with_capacity(2048);
    Snapshot::finished(&ids.response(Wire::Responses), &output, reply)
        .write(&mut body, &Echo::of(request));
    Bytes::from(body)
}

/// The output items of a reply, as a client gets them and a later request may repeat them.
///
/// # Errors
/// When an item is no JSON, which only a mistake of this crate can bring about.
pub(crate) fn output_items(reply: &Reply, ids: Ids) -> serde_json::Result<Vec<Value>> {
    let items = Output::finished(&Output::all(reply, ids), &reply.ending);
    items.iter().map(|item| serde_json::from_slice(item)).collect()
}

/// A compacted history as an object.
pub(crate) fn compaction_object(id: &str, output: &[Value], input_tokens: u64) -> Value {
    let output_tokens = Usage::default().output;
    json!({
        "id": id,
        "object": "response.compaction",
        "created_at": CREATED_AT,
        "output": output,
        "usage": {
            "input_tokens": input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input_tokens + output_tokens,
        },
    })
}
