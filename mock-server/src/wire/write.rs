//! A reply on the wire of its request: the one place where the wires part.

use bytes::Bytes;

use super::fit::{self, Unfit};
use super::{Ids, Request, Wire, chat, messages, responses};
use crate::script::Reply;

/// A reply as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// Server-sent events, one frame each.
    Stream(Vec<Bytes>),
    /// One JSON object.
    Whole(Bytes),
}

/// Writes a reply in the form that the request asks for.
///
/// # Errors
/// When the wire cannot carry it.
pub(crate) fn write(request: &Request<'_>, reply: &Reply, ids: Ids) -> Result<Written, Unfit> {
    fit::check(request, reply)?;
    Ok(if request.wants_stream() {
        Written::Stream(match request.wire() {
            Wire::Responses => responses::stream(request, reply, ids)?,
            Wire::Chat => chat::stream(request, reply, ids),
            Wire::Messages => messages::stream(request, reply, ids),
        })
    } else {
        Written::Whole(match request.wire() {
            Wire::Responses => responses::whole(request, reply, ids),
            Wire::Chat => chat::whole(request, reply, ids),
            Wire::Messages => messages::whole(request, reply, ids),
        })
    })
}

/// The headers that a server of the wire sends with a reply, beside those of its form.
pub(crate) fn reply_headers(wire: Wire, ids: Ids) -> Vec<(&'static str, String)> {
    match wire {
        Wire::Responses | Wire::Chat => {
            vec![("x-request-id", ids.request()), ("openai-processing-ms", "1".to_owned())]
        }
        Wire::Messages => vec![("request-id", ids.request())],
    }
}
