//! Server-sent events: the one place where frames are encoded.

use bytes::Bytes;

use super::json::{Object, write_number};

/// Encodes events into one buffer and cuts it into frames at the end, one frame an event.
#[derive(Debug)]
pub(crate) struct EventWriter {
    buffer: Vec<u8>,
    ends: Vec<usize>,
}

impl EventWriter {
    /// A writer with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { buffer: Vec::with_capacity(bytes), ends: Vec::with_capacity(32) }
    }

    /// Writes one event. Its data is an object that begins with `type` and `sequence_number`;
    /// `fields` adds the rest.
    pub(crate) fn event(&mut self, kind: &str, fields: impl FnOnce(Object<'_>) -> Object<'_>) {
        let buffer = &mut self.buffer;
        buffer.extend_from_slice(b"event: ");
        buffer.extend_from_slice(kind.as_bytes());
        buffer.extend_from_slice(b"\ndata: {\"type\":\"");
        buffer.extend_from_slice(kind.as_bytes());
        buffer.extend_from_slice(b"\",\"sequence_number\":");
        write_number(buffer, self.ends.len() as u64);
        fields(Object::resume(buffer)).end();
        buffer.extend_from_slice(b"\n\n");
        self.ends.push(buffer.len());
    }

    /// The frames, in order.
    pub(crate) fn finish(self) -> Vec<Bytes> {
        let whole = Bytes::from(self.buffer);
        let mut start = 0;
        let cut = |end| {
            let frame = whole.slice(start..end);
            start = end;
            frame
        };
        self.ends.into_iter().map(cut).collect()
    }
}
