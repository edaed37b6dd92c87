//! The Responses wire over HTTP: reading a request, writing a reply as an event sequence or as
//! one object.
//!
//! The shapes follow the public API reference of `OpenAI` Responses and the Open Responses
//! specification, which requires the whole Response object in every snapshot.

mod extra;
mod item;
mod part;
mod response;
mod stream;

use bytes::Bytes;

use super::fit::Unfit;
use super::{Ids, Request, Wire};
use crate::script::Reply;
use item::Output;
use response::{Echo, Snapshot};

/// The reply as a stream: one frame an event.
///
/// # Errors
/// When an extra event stands before an event that there is not.
pub(super) fn stream(
    request: &Request<'_>,
    reply: &Reply,
    ids: Ids,
) -> Result<Vec<Bytes>, Unfit> {
    extra::insert(stream::stream(request, reply, ids), &reply.extra_events)
}

/// The reply as one Response object.
pub(super) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> Bytes {
    let output = Output::finished(&Output::all(reply, ids), &reply.ending);
    let mut body = Vec::with_capacity(2048);
    Snapshot::finished(&ids.response(Wire::Responses), &output, reply)
        .write(&mut body, &Echo::of(request));
    Bytes::from(body)
}
