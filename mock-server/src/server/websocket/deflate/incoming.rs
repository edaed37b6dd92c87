//! The connection as the `WebSocket` layer reads it: compressed messages come as plain ones.

use std::io::{self, Cursor, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::Agreed;
use super::inflate::Inflate;

/// How much is read at once.
const READ: usize = 16 * 1024;

/// What a client does wrong with compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::server::websocket) enum Violation {
    #[error("the compressed data of a message cannot be read")]
    BadData,
    #[error("a compressed message is too long")]
    TooLong,
    #[error("the frames of a compressed message are not in order")]
    Framing,
}

/// A connection whose client may compress messages. What is written to it goes out as it is.
#[derive(Debug)]
pub(in crate::server::websocket) struct Incoming<S> {
    stream: S,
    /// `None`: nothing was agreed, so what is read comes as it is too.
    frames: Option<Frames>,
}

impl<S> Incoming<S> {
    /// A message may have so many bytes when it is plain.
    pub(in crate::server::websocket) fn new(
        stream: S,
        agreed: Option<Agreed>,
        limit: usize,
    ) -> Self {
        let frames = agreed.map(|agreed| Frames::new(Inflate::new(agreed.client_forgets, limit)));
        Self { stream, frames }
    }

    /// The connection itself.
    pub(in crate::server::websocket) fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Incoming<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, frames } = self.get_mut();
        let Some(frames) = frames else { return Pin::new(stream).poll_read(context, buffer) };
        let mut read = [0; READ];
        while frames.plain.is_empty() {
            // What came before a violation is read first.
            if let Some(violation) = frames.violation {
                return Poll::Ready(Err(io::Error::other(violation)));
            }
            let mut read = ReadBuf::new(&mut read);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            frames.read(read.filled());
        }
        let count = frames.plain.len().min(buffer.remaining());
        buffer.put_slice(&frames.plain.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Incoming<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The frames of a client, made plain. Those of plain messages, and control frames, stay byte for
/// byte, and so does what is wrong with them: the layer above finds it.
#[derive(Debug)]
pub(super) struct Frames {
    inflate: Inflate,
    /// What could not be read yet: the begin of a frame's head.
    head: BytesMut,
    frame: Frame,
    /// The compressed message that has begun.
    message: Option<CompressedMessage>,
    /// What is to be read.
    plain: BytesMut,
    violation: Option<Violation>,
}

/// Where in a frame the next byte is.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// In its head.
    Head,
    /// In the payload of one that stays as it is.
    Kept { left: u64 },
    /// In the payload of one of a compressed message.
    Compressed { left: u64, mask: [u8; 4], is_final: bool },
}

#[derive(Debug)]
struct CompressedMessage {
    kind: Data,
    plain: Vec<u8>,
}

impl Frames {
    pub(super) fn new(inflate: Inflate) -> Self {
        let (head, plain) = (BytesMut::new(), BytesMut::new());
        Self { inflate, head, frame: Frame::Head, message: None, plain, violation: None }
    }

    /// Reads what the client sent next. After a violation, nothing more is read.
    fn read(&mut self, mut bytes: &[u8]) {
        while self.violation.is_none() && !bytes.is_empty() {
            if let Err(violation) = self.step(&mut bytes) {
                self.violation = Some(violation);
            }
        }
    }

    /// Reads up to the end of a head or of a payload.
    fn step(&mut self, bytes: &mut &[u8]) -> Result<(), Violation> {
        match self.frame {
            Frame::Head => self.head(bytes),
            Frame::Kept { left } => {
                let part = take(bytes, left);
                self.plain.extend_from_slice(part);
                self.frame = match left - length(part) {
                    0 => Frame::Head,
                    left => Frame::Kept { left },
                };
                Ok(())
            }
            Frame::Compressed { left, mut mask, is_final } => {
                let part = take(bytes, left);
                let masked = part.iter().zip(mask.iter().cycle());
                let unmasked: Vec<u8> = masked.map(|(byte, mask)| byte ^ mask).collect();
                if let Some(message) = &mut self.message {
                    self.inflate.part(&unmasked, &mut message.plain)?;
                }
                // The next part begins within the mask.
                mask.rotate_left(part.len() % 4);
                let left = left - length(part);
                self.frame = Frame::Compressed { left, mask, is_final };
                if left == 0 { self.end_of_frame(is_final) } else { Ok(()) }
            }
        }
    }

    /// Reads a head, or what is there of it.
    fn head(&mut self, bytes: &mut &[u8]) -> Result<(), Violation> {
        // A head is short: it is looked at again with each byte, whatever the chunks.
        self.head.extend_from_slice(&bytes[..1]);
        bytes.advance(1);
        let parsed = FrameHeader::parse(&mut Cursor::new(&self.head));
        let (header, left) = match parsed {
            Ok(Some(parsed)) => parsed,
            Ok(None) => return Ok(()),
            // The layer above finds the same.
            Err(_) => {
                self.plain.unsplit(self.head.split());
                return Ok(());
            }
        };
        let head = self.head.split();
        let kind = match header.opcode {
            OpCode::Data(kind) => kind,
            OpCode::Control(_) => {
                self.keep(&head, left);
                return Ok(());
            }
        };
        let begins = matches!(kind, Data::Text | Data::Binary);
        let is_compressed = match &self.message {
            Some(_) if kind != Data::Continue || header.rsv1 => return Err(Violation::Framing),
            Some(_) => true,
            None => begins && header.rsv1,
        };
        if !is_compressed {
            self.keep(&head, left);
            return Ok(());
        }
        let (Some(mask), false) = (header.mask, header.rsv2 || header.rsv3) else {
            return Err(Violation::Framing);
        };
        self.message.get_or_insert_with(|| CompressedMessage { kind, plain: Vec::new() });
        self.frame = Frame::Compressed { left, mask, is_final: header.is_final };
        if left == 0 { self.end_of_frame(header.is_final) } else { Ok(()) }
    }

    fn keep(&mut self, head: &[u8], left: u64) {
        self.plain.extend_from_slice(head);
        self.frame = if left == 0 { Frame::Head } else { Frame::Kept { left } };
    }

    /// Ends a frame of a compressed message, and with its last frame the message.
    fn end_of_frame(&mut self, is_final: bool) -> Result<(), Violation> {
        self.frame = Frame::Head;
        if !is_final {
            return Ok(());
        }
        let Some(CompressedMessage { kind, mut plain }) = self.message.take() else {
            return Ok(());
        };
        self.inflate.end(&mut plain)?;
        // Masked by zeros: a client's frame has a mask.
        let mask = Some([0; 4]);
        let header = FrameHeader { opcode: OpCode::Data(kind), mask, ..plain_header() };
        let mut head = Vec::new();
        let written: Result<(), Error> = header.format(length(&plain), &mut head);
        written.map_err(|_| Violation::Framing)?;
        self.plain.extend_from_slice(&head);
        self.plain.extend_from_slice(&plain);
        Ok(())
    }
}

fn plain_header() -> FrameHeader {
    let opcode = OpCode::Data(Data::Text);
    FrameHeader { is_final: true, rsv1: false, rsv2: false, rsv3: false, opcode, mask: None }
}

/// Takes at most so many bytes from the begin.
fn take<'b>(bytes: &mut &'b [u8], most: u64) -> &'b [u8] {
    let count = usize::try_from(most).unwrap_or(usize::MAX).min(bytes.len());
    let (part, rest) = bytes.split_at(count);
    *bytes = rest;
    part
}

fn length(bytes: &[u8]) -> u64 {
    // No machine has more bytes than fit.
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
