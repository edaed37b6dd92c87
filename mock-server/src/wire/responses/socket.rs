//! The frames of a reply over a `WebSocket`: the data of the same events, one a text frame.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value, json};

use super::response::{Echo, Snapshot};
use super::stream;
use crate::script::{ErrorFrame, Reply, Usage};
use crate::validate::Refusal;
use crate::wire::fit::{self, Unfit};
use crate::wire::json::write_text;
use crate::wire::sse::EventWriter;
use crate::wire::{ApiError, Ids, Request, Wire};

/// Writes what goes out in text frames. Where the request named a stream, every frame echoes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SocketFrames<'r> {
    stream_id: Option<&'r str>,
}

impl<'r> SocketFrames<'r> {
    /// Frames for a request with this `stream_id`.
    pub(crate) fn new(stream_id: Option<&'r str>) -> Self {
        Self { stream_id }
    }

    /// A reply: one frame an event. A reply's headers have no other place here than an event
    /// `response.metadata`, which comes first and only where the script sets headers.
    ///
    /// # Errors
    /// When the wire cannot carry the reply.
    pub(crate) fn reply(
        self,
        request: &Request<'_>,
        reply: &Reply,
        ids: Ids,
    ) -> Result<Vec<Bytes>, Unfit> {
        fit::check(request, reply)?;
        let metadata = (!reply.headers.is_empty()).then(|| {
            let headers = json!({"type": "response.metadata", "headers": headers(&reply.headers)});
            Bytes::from(headers.to_string())
        });
        let events = stream(request, reply, ids)?.into_iter().map(|frame| data(&frame));
        Ok(metadata.into_iter().chain(events).map(|frame| self.with_stream_id(frame)).collect())
    }

    /// The answer to a request that wants no output: the response begins and is complete.
    pub(crate) fn warm_up(self, request: &Request<'_>, ids: Ids) -> Vec<Bytes> {
        let echo = Echo::of(request);
        let id = ids.response(Wire::ResponsesWs);
        let reply = warm_up_reply();
        let mut writer = EventWriter::with_capacity(1024 + 2 * echo.len());
        for (kind, snapshot) in [
            ("response.created", Snapshot::in_progress(&id)),
            ("response.completed", Snapshot::finished(&id, &[], &reply)),
        ] {
            writer.event(kind, |object| {
                object.with("response", |buffer| snapshot.write(buffer, &echo))
            });
        }
        writer.finish().into_iter().map(|frame| self.with_stream_id(data(&frame))).collect()
    }

    /// An error as a frame.
    pub(crate) fn refusal(self, refusal: &ApiError) -> Bytes {
        let frame = json!({
            "type": "error",
            "status": refusal.status.as_u16(),
            "error": {
                "type": "invalid_request_error",
                "code": refusal.code,
                "message": refusal.message,
                "param": refusal.param,
            }
        });
        self.with_stream_id(Bytes::from(frame.to_string()))
    }

    /// The refusal of a request that breaks a rule, as a frame.
    pub(crate) fn broken_rule(self, refusal: &Refusal) -> Bytes {
        let Refusal { status, kind, code, param, message, .. } = refusal;
        let frame = json!({
            "type": "error",
            "status": status,
            "error": {"type": kind, "code": code, "message": message, "param": param},
        });
        self.with_stream_id(Bytes::from(frame.to_string()))
    }

    /// A scripted error as a frame.
    pub(crate) fn error(self, frame: &ErrorFrame) -> Bytes {
        self.with_stream_id(Bytes::from(error_frame(frame).to_string()))
    }

    /// The frame, an object that is not empty, with the stream's id at its end.
    fn with_stream_id(self, frame: Bytes) -> Bytes {
        let (Some(id), Some(inner)) = (self.stream_id, frame.strip_suffix(b"}")) else {
            return frame;
        };
        let mut id_text = Vec::with_capacity(id.len() + 2);
        write_text(&mut id_text, id);
        let mut whole = BytesMut::with_capacity(frame.len() + id_text.len() + 16);
        whole.put_slice(inner);
        whole.put_slice(b",\"stream_id\":");
        whole.put_slice(&id_text);
        whole.put_u8(b'}');
        whole.freeze()
    }
}

/// A scripted error frame: fields that the script leaves out are absent.
fn error_frame(frame: &ErrorFrame) -> Value {
    let mut error = json!({
        "type": frame.kind.as_deref().unwrap_or("invalid_request_error"),
        "message": frame.message,
    });
    if let Some(code) = &frame.code {
        error["code"] = json!(code);
    }
    let mut object = json!({"type": "error"});
    if let Some(status) = frame.status {
        object["status"] = json!(status);
    }
    object["error"] = error;
    if !frame.headers.is_empty() {
        object["headers"] = headers(&frame.headers);
    }
    object
}

fn headers(headers: &[(String, String)]) -> Value {
    let fields = headers.iter().map(|(name, value)| (name.clone(), json!(value)));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// The data of one server-sent event: what stands between its name and the blank line.
fn data(frame: &Bytes) -> Bytes {
    const DATA: &[u8] = b"data: ";
    let start = frame
        .windows(DATA.len())
        .position(|window| window == DATA)
        .map_or(0, |found| found + DATA.len());
    let end = frame.len() - frame.iter().rev().take_while(|byte| **byte == b'\n').count();
    frame.slice(start..end.max(start))
}

/// The reply of a warm-up: nothing, at no cost.
pub(crate) fn warm_up_reply() -> Reply {
    let nothing = Usage { input: 0, cached: 0, output: 0, reasoning: 0 };
    Reply { usage: nothing, ..Reply::default() }
}
