//! Server-sent events: the one place where frames are encoded.

use bytes::Bytes;
use serde::Serialize;

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
    /// `fields` adds the rest, each with a comma before it.
    ///
    /// # Errors
    /// Those of `fields`.
    pub(crate) fn event(
        &mut self,
        kind: &str,
        fields: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        let number = self.ends.len();
        self.unnumbered_event(kind, |buffer| {
            buffer.extend_from_slice(b",\"sequence_number\":");
            serde_json::to_writer(&mut *buffer, &number)?;
            fields(buffer)
        })
    }

    /// Writes one event. Its data is an object that begins with `type`; `fields` adds the rest,
    /// each with a comma before it.
    ///
    /// # Errors
    /// Those of `fields`.
    pub(crate) fn unnumbered_event(
        &mut self,
        kind: &str,
        fields: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        let buffer = &mut self.buffer;
        buffer.extend_from_slice(b"event: ");
        buffer.extend_from_slice(kind.as_bytes());
        buffer.extend_from_slice(b"\ndata: {\"type\":\"");
        buffer.extend_from_slice(kind.as_bytes());
        buffer.push(b'"');
        fields(buffer)?;
        buffer.push(b'}');
        self.end_frame();
        Ok(())
    }

    /// Writes one frame without an event name.
    ///
    /// # Errors
    /// When the data cannot be written as JSON.
    pub(crate) fn data(&mut self, data: &impl Serialize) -> serde_json::Result<()> {
        self.buffer.extend_from_slice(b"data: ");
        serde_json::to_writer(&mut self.buffer, data)?;
        self.end_frame();
        Ok(())
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

/// Appends the fields of a struct or map to an object that is being written: its opening brace
/// becomes the comma, its closing brace is dropped.
///
/// # Errors
/// Those of the value's serialisation.
pub(crate) fn append_fields(
    buffer: &mut Vec<u8>,
    fields: &impl Serialize,
) -> serde_json::Result<()> {
    let start = buffer.len();
    serde_json::to_writer(&mut *buffer, fields)?;
    if buffer.len() - start <= 2 {
        buffer.truncate(start);
    } else {
        buffer.pop();
        buffer[start] = b',';
    }
    Ok(())
}
