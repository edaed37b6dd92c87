//! What a fuzz target does with the bytes of a client that agreed to compression.

use tokio::io::AsyncReadExt;

use super::{Incoming, negotiate};

/// The most bytes that a message may have here.
const LIMIT: usize = 1 << 20;

/// Reads bytes as a server reads its client's, with the first line as the client's offer, and lets
/// them go.
pub(crate) fn read_and_drop(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (offer, frames) = bytes.split_at(end);
    let mut headers = http::HeaderMap::new();
    let Ok(offer) = http::HeaderValue::from_bytes(offer) else { return };
    headers.insert(http::header::SEC_WEBSOCKET_EXTENSIONS, offer);
    let Ok(Some(agreed)) = negotiate(&headers) else { return };
    let stream = std::io::Cursor::new(frames.get(1..).unwrap_or_default().to_vec());
    let mut incoming = Incoming::new(stream, Some(agreed), LIMIT);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    // A violation is as good as an end.
    let _ = runtime.block_on(incoming.read_to_end(&mut Vec::new()));
}
