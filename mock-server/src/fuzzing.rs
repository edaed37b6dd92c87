//! What the fuzz targets need beyond the public interface; compiled only for them (`--cfg fuzzing`).

use std::sync::Arc;

use http::HeaderMap;

use crate::capture::{capture, offered_tools};
use crate::record;
use crate::server;
use crate::validate::{Rules, Service, Validator};
use crate::wire::Wire;

/// All that a server does with the body of a request: parsing, every rule, the capture.
pub fn request(wire: Wire, body: &[u8]) {
    let Ok(json) = serde_json::from_slice(body) else { return };
    let validator = Validator::new(Rules::all(), Service::default());
    drop(validator.check(wire, &HeaderMap::new(), &json));
    drop(capture(wire, &json));
    drop(offered_tools(wire, &json));
}

/// Reads a recorded reply, whole or streamed.
pub fn recorded(wire: Wire, body: &[u8]) {
    record::read_and_drop(wire, body);
}

/// Reads what a client sent over a `WebSocket` as bytes, after the line in which it offers
/// compression.
pub fn deflate(bytes: &[u8]) {
    server::read_compressed_and_drop(bytes);
}

/// Reads a message that a client sent over a `WebSocket`.
pub fn socket(message: &[u8]) {
    let Ok(json) = serde_json::from_slice(message) else { return };
    server::read_and_drop(&Arc::new(json));
}
