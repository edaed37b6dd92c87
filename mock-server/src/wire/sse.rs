//! Server-sent events: the one place where frames are encoded.

use bytes::Bytes;

use super::json::Object;

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
        let number = self.ends.len() as u64;
        self.unnumbered_event(kind, |object| fields(object.number("sequence_number", number)));
    }

    /// Writes one event. Its data is an object that begins with `type`; `fields` adds the rest.
    pub(crate) fn unnumbered_event(
        &mut self,
        kind: &str,
        fields: impl FnOnce(Object<'_>) -> Object<'_>,
    ) {
        let buffer = &mut self.buffer;
        buffer.extend_from_slice(b"event: ");
        buffer.extend_from_slice(kind.as_bytes());
        buffer.extend_from_slice(b"\ndata: {\"type\":\"");
        buffer.extend_from_slice(kind.as_bytes());
        buffer.push(b'"');
        fields(Object::resume(buffer)).end();
        self.end_frame();
    }

    /// Writes one frame without an event name; its data is an object with these fields.
    pub(crate) fn data(&mut self, fields: impl FnOnce(Object<'_>) -> Object<'_>) {
        self.buffer.extend_from_slice(b"data: ");
        fields(Object::begin(&mut self.buffer)).end();
        self.end_frame();
    }

    /// Writes the frame that ends a stream of frames without names.
    pub(crate) fn done(&mut self) {
        self.buffer.extend_from_slice(b"data: [DONE]");
        self.end_frame();
    }

    fn end_frame(&mut self) {
        self.buffer.extend_from_slice(b"\n\n");
        self.ends.push(self.buffer.len());
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
