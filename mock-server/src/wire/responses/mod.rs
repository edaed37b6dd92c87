//! The Responses wire over HTTP: reading a request, writing a reply as an event sequence or as
//! one object.
//!
//! The shapes follow the public API reference of `OpenAI` Responses and the Open Responses
//! specification, which requires the whole Response object in every snapshot.

mod item;
mod request;
mod response;
mod stream;

pub(crate) use request::Request;
pub(crate) use stream::stream;

use bytes::Bytes;

use super::Ids;
use crate::script::Reply;
use item::Output;
use response::{Echo, Snapshot};

/// The reply as one Response object.
pub(crate) fn whole(request: &Request<'_>, reply: &Reply, ids: Ids) -> Bytes {
    let output: Vec<_> = Output::all(reply, ids).iter().map(Output::finished).collect();
    let mut body = Vec::with_capacity(2048);
    Snapshot::completed(&ids.response(), &output, reply.usage).write(&mut body, &Echo::of(request));
    Bytes::from(body)
}
