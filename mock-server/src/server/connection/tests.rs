//! Where the writes of an answer end.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};

use super::*;
use crate::gate::Gates;
use crate::journal::JournalLimits;
use crate::script::{Attempts, Fault, Framing, Reply, Script, Split, Turn};
use crate::server::state::State;

/// A stream that remembers what each write took.
struct Recording {
    inner: DuplexStream,
    writes: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl AsyncRead for Recording {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for Recording {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = written {
            self.writes.lock().unwrap().push(bytes[..count].to_vec());
        }
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
        self.poll_write(context, &bytes)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl Resettable for Recording {
    fn reset_on_drop(&self) -> io::Result<()> {
        Ok(())
    }
}

async fn writes(script: Script, body: &str) -> Vec<Vec<u8>> {
    let limits = JournalLimits::default();
    let state = State::new(script, Gates::default(), limits.clone()).unwrap();
    let sessions = Arc::new(Sessions::new(String::new(), Arc::new(state), limits, None));
    let (mut client, inner) = tokio::io::duplex(1024 * 1024);
    let writes = Arc::new(Mutex::new(Vec::new()));
    let recording = Recording { inner, writes: Arc::clone(&writes) };
    let serving = tokio::spawn(serve(recording, sessions));

    let length = body.len();
    let request = format!(
        "POST /v1/responses HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    client.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    serving.await.unwrap();

    let writes = writes.lock().unwrap().clone();
    assert_eq!(writes.concat(), answer);
    writes
}

const STREAMED: &str = r#"{"model":"m","stream":true}"#;

#[tokio::test]
async fn no_write_ends_within_an_event() {
    // More events than the HTTP layer gathers before it writes.
    let reply = Reply::say("A text that is sent in pieces. ".repeat(24));
    let writes = writes(Script::of([reply]), STREAMED).await;

    let texts: Vec<_> = writes.iter().map(|write| str::from_utf8(write).unwrap()).collect();
    let (last, others) = texts.split_last().unwrap();
    assert!(others.len() > 1, "{texts:#?}");
    // The head goes with the first event, the end of the body with the last.
    assert!(last.ends_with("}\n\n\r\n0\r\n\r\n"), "{last:?}");
    for other in others {
        assert!(other.ends_with("}\n\n\r\n"), "{other:?}");
    }
    assert_eq!(texts.concat().matches("event: ").count(), 39);
    for text in texts {
        assert!(text.len() <= 4096, "{}", text.len());
    }
}

#[tokio::test]
async fn what_a_fault_splits_is_written_apart() {
    let framing = Framing { split: Split::Every(1), ..Framing::default() };
    let fault = Fault { framing, ..Fault::default() };
    let turn = Turn::main("one", Reply::say("Hello")).with_fault(Attempts::Every, fault);
    let script = Script { turns: vec![turn], ..Script::of([]) };
    let writes = writes(script, STREAMED).await;

    let (head, bytes) = writes.split_first().unwrap();
    assert!(head.ends_with(b"\r\n\r\n1\r\ne\r\n"), "{head:?}");
    for byte in bytes {
        assert!(byte.starts_with(b"1\r\n"), "{byte:?}");
    }
}

#[tokio::test]
async fn a_whole_reply_is_one_write() {
    let writes = writes(Script::of([Reply::say("Hello")]), r#"{"model":"m"}"#).await;
    assert_eq!(writes.len(), 1, "{writes:#?}");
}
