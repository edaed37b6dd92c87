//! Messages on their way out.

use std::io;

use flate2::{Compress, Compression, FlushCompress, Status};
use futures_util::stream::SplitSink;
use futures_util::{Sink, SinkExt};
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{Agreed, TAIL};

/// Where messages are sent to, each text and binary one compressed if that is agreed.
#[derive(Debug)]
pub(in crate::server::websocket) struct Outgoing<S> {
    sink: SplitSink<S, Message>,
    deflate: Option<Deflate>,
}

impl<S: Sink<Message, Error = Error>> Outgoing<S> {
    pub(in crate::server::websocket) fn new(
        sink: SplitSink<S, Message>,
        agreed: Option<Agreed>,
    ) -> Self {
        Self { sink, deflate: agreed.map(Deflate::new) }
    }

    /// Sends a message, perhaps together with those that follow.
    pub(in crate::server::websocket) async fn feed(
        &mut self,
        message: Message,
    ) -> Result<(), Error> {
        let message = match &mut self.deflate {
            Some(deflate) => deflate.message(message)?,
            None => message,
        };
        self.sink.feed(message).await
    }

    /// Sends a message, and all before it.
    pub(in crate::server::websocket) async fn send(
        &mut self,
        message: Message,
    ) -> Result<(), Error> {
        self.feed(message).await?;
        self.flush().await
    }

    pub(in crate::server::websocket) async fn flush(&mut self) -> Result<(), Error> {
        self.sink.flush().await
    }

    /// Where the messages went.
    pub(in crate::server::websocket) fn into_sink(self) -> SplitSink<S, Message> {
        self.sink
    }
}

/// Compresses messages, one after another.
#[derive(Debug)]
pub(super) struct Deflate {
    deflate: Compress,
    forgets: bool,
}

impl Deflate {
    pub(super) fn new(agreed: Agreed) -> Self {
        let (level, window) = (Compression::default(), agreed.server_window());
        Self {
            deflate: Compress::new_with_window_bits(level, false, window),
            forgets: agreed.server_forgets,
        }
    }

    /// A message as it goes out: texts and binary ones in one compressed frame, others as they are.
    fn message(&mut self, message: Message) -> io::Result<Message> {
        let (kind, plain) = match message {
            Message::Text(text) => (Data::Text, text.into()),
            Message::Binary(bytes) => (Data::Binary, bytes),
            other => return Ok(other),
        };
        let mut frame = Frame::message(self.bytes(&plain)?, OpCode::Data(kind), true);
        frame.header_mut().rsv1 = true;
        Ok(Message::Frame(frame))
    }

    /// The compressed bytes of a message.
    pub(super) fn bytes(&mut self, plain: &[u8]) -> io::Result<Vec<u8>> {
        if plain.is_empty() {
            // The compressor flushes only what is there (RFC 7692, section 7.2.3.6).
            return Ok(vec![0]);
        }
        let mut compressed = Vec::new();
        let mut rest = plain;
        loop {
            // Enough for bytes that cannot be compressed, so the first round does in general.
            compressed.reserve(rest.len() + rest.len() / 8 + 128);
            let taken = self.deflate.total_in();
            let status = self
                .deflate
                .compress_vec(rest, &mut compressed, FlushCompress::Sync)
                .map_err(io::Error::other)?;
            let taken = usize::try_from(self.deflate.total_in() - taken).unwrap_or(rest.len());
            rest = &rest[taken..];
            let has_room = compressed.len() < compressed.capacity();
            if rest.is_empty() && (has_room || status != Status::Ok) {
                break;
            }
        }
        if self.forgets {
            self.deflate.reset();
        }
        if !compressed.ends_with(&TAIL) {
            return Err(io::Error::other("a compressed message does not end with a flush"));
        }
        compressed.truncate(compressed.len() - TAIL.len());
        Ok(compressed)
    }
}
