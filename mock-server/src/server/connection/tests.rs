//! How many writes a stream takes.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};

use super::*;
use crate::gate::Gates;
use crate::journal::JournalLimits;
use crate::script::{Reply, Script};
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

async fn writes(reply: Reply, body: &str) -> Vec<String> {
    let limits = JournalLimits::default();
    let state = State::new(Script::of([reply]), Gates::default(), limits.clone()).unwrap();
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
    writes.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
}

#[tokio::test]
async fn each_event_is_one_write() {
    // More events than the HTTP layer gathers before it writes.
    let reply = Reply::say("A text that is sent in pieces. ".repeat(24));
    let writes = writes(reply, r#"{"model":"m","stream":true}"#).await;

    assert_eq!(writes.len(), 39, "{writes:#?}");
    for (index, write) in writes.iter().enumerate() {
        assert_eq!(write.matches("event: ").count(), 1, "{write}");
        // The head goes with the first event, the end of the body with the last.
        assert_eq!(write.contains("HTTP/1.1 200 OK"), index == 0, "{write}");
        let end = if index == 38 { "}\n\n\r\n0\r\n\r\n" } else { "}\n\n\r\n" };
        assert!(write.ends_with(end), "{write:?}");
    }
}

#[tokio::test]
async fn a_whole_reply_is_one_write() {
    let writes = writes(Reply::say("Hello"), r#"{"model":"m"}"#).await;
    assert_eq!(writes.len(), 1, "{writes:#?}");
}
