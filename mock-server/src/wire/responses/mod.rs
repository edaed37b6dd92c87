//! The Responses wire over HTTP: reading a request, writing a reply as an event sequence or as
//! one object.
//!
//! The shapes follow the public API reference of `OpenAI` Responses and the Open Responses
//! specification, which requires the whole Response object in every snapshot.

mod item;
mod minted;
mod response;
mod stream;

pub(super) use minted::minted;
pub(super) use stream::stream;

use bytes::Bytes;

use super::{Ids, Request, Wire};
use crate::script::Reply;
use item::Output;
use response::{Echo, Snapshot};

/// The reply as one Response object.
pub(super) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> Bytes {
    let output = Output::finished(&Output::all(reply, ids), reply.ending);
    let mut body = Vec::with_capacity(2048);
    Snapshot::finished(&ids.response(Wire::Responses), &output, reply)
        .write(&mut body, &Echo::of(request));
    Bytes::from(body)
}
