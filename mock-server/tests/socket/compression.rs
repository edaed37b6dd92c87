//! Compressed messages (`permessage-deflate`), by a client that writes and reads bytes.

use conform_mock_server::journal::{Exchange, Route};
use conform_mock_server::server::MockServer;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::handshake::upgrades;
use crate::support::{create, start};

const OFFER: &str = "permessage-deflate; client_max_window_bits";
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
const TEXT: u8 = 0x81;
const COMPRESSED: u8 = 0xc1;
const CLOSE: u8 = 0x88;

/// A frame as it came: its first byte and its payload.
type Frame = (u8, Vec<u8>);

struct Client {
    stream: TcpStream,
    /// The head of the handshake's answer.
    head: String,
    compress: Compress,
    inflate: Decompress,
}

impl Client {
    async fn open(server: &MockServer, offer: &str) -> Self {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        let offer = match offer {
            "" => String::new(),
            offer => format!("sec-websocket-extensions: {offer}\r\n"),
        };
        let request = format!(
            "GET /v1/responses HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{offer}\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let compress = Compress::new(Compression::fast(), false);
        Self { stream, head, compress, inflate: Decompress::new(false) }
    }

    /// The answer's header about extensions.
    fn extensions(&self) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix("sec-websocket-extensions: "))
    }

    async fn send(&mut self, first: u8, payload: &[u8]) {
        let mask = [1, 2, 3, 4];
        let mut frame = vec![first, 0xff];
        frame.extend((payload.len() as u64).to_be_bytes());
        frame.extend(mask);
        frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        // A server that has had enough of it has closed the connection.
        let _ = self.stream.write_all(&frame).await;
    }

    /// Sends a text, compressed if that is agreed.
    async fn say(&mut self, text: &str) {
        if self.extensions().is_none() {
            return self.send(TEXT, text.as_bytes()).await;
        }
        let mut bytes = Vec::with_capacity(text.len() * 2 + 64);
        self.compress.compress_vec(text.as_bytes(), &mut bytes, FlushCompress::Sync).unwrap();
        self.send(COMPRESSED, bytes.strip_suffix(&TAIL).unwrap()).await;
    }

    /// The next frame; `None` at the end of the connection.
    async fn frame(&mut self) -> Option<Frame> {
        let first = self.stream.read_u8().await.ok()?;
        let length = match self.stream.read_u8().await.ok()? {
            126 => usize::from(self.stream.read_u16().await.ok()?),
            length => usize::from(length),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await.ok()?;
        Some((first, payload))
    }

    /// A frame without its compression.
    fn plain(&mut self, (first, mut payload): Frame) -> Frame {
        if first & 0x40 == 0 {
            return (first, payload);
        }
        payload.extend(TAIL);
        let mut plain = Vec::with_capacity(1 << 16);
        self.inflate.decompress_vec(&payload, &mut plain, FlushDecompress::None).unwrap();
        (first & !0x40, plain)
    }

    /// The frames up to the end of a response, an error or a close frame.
    async fn answer(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        loop {
            let frame = self.frame().await.expect("a frame");
            frames.push(frame.clone());
            let (first, payload) = self.plain(frame);
            let event: Value = serde_json::from_slice(&payload).unwrap_or_default();
            let is_end = ["response.completed", "error"].iter().any(|end| event["type"] == *end);
            if is_end || first == CLOSE {
                return frames;
            }
        }
    }

    /// The code of the close frame that ends the connection.
    async fn close_code(&mut self) -> u16 {
        let (first, payload) = self.frame().await.expect("a close frame");
        assert_eq!(first, CLOSE, "{payload:?}");
        assert_eq!(self.frame().await, None, "nothing after a close frame");
        u16::from_be_bytes([payload[0], payload[1]])
    }
}

#[tokio::test]
async fn what_is_agreed_is_said_and_noted() {
    let server =
        start("turns: []\nconnections: [{}, {}, {}, {handshake: {compression: false}}, {}]").await;
    let both = "permessage-deflate; server_max_window_bits=10; client_no_context_takeover";
    let agreed = "permessage-deflate; client_no_context_takeover; server_max_window_bits=10";
    let mut answers = Vec::new();
    for offer in [OFFER, both, "", OFFER, "permessage-deflate; x"] {
        let client = Client::open(&server, offer).await;
        assert!(client.head.starts_with("HTTP/1.1 101 "), "{}", client.head);
        answers.push(client.extensions().map(str::to_owned));
    }
    let deflate = || Some("permessage-deflate".to_owned());
    assert_eq!(answers, [deflate(), Some(agreed.to_owned()), None, None, None]);
    let noted: Vec<_> = upgrades(&server).into_iter().map(|upgrade| upgrade.extensions).collect();
    assert_eq!(noted, answers);
    let malformed = Client::open(&server, "permessage-deflate;").await;
    assert!(malformed.head.starts_with("HTTP/1.1 400 "), "{}", malformed.head);
}

const FAULTS: &str = r#"
turns: [{say: One text that is long enough.}, {say: Two.}, {say: Three.}]
connections:
  - fault:
      - ping: {after_event: 1}
      - send: {after_event: 2, text: "no JSON, é"}
      - send: {after_event: 2, text: ""}
      - binary: {after_event: 3}
      - error: {response: 2, after_event: 2, message: broken}
      - close: {response: 3, after_event: 4, code: 1011, reason: restart}
"#;

/// The frames of three answers with faults.
async fn faulty(offer: &str) -> (Client, Vec<Frame>) {
    let server = start(FAULTS).await;
    let mut client = Client::open(&server, offer).await;
    let mut frames = Vec::new();
    for _ in 0..3 {
        client.say(&create(&json!({})).to_string()).await;
        frames.extend(client.answer().await);
    }
    server.verify().unwrap_err();
    (client, frames)
}

#[tokio::test]
async fn every_message_comes_as_scripted_with_and_without_compression() {
    let (_, plain) = faulty("").await;
    assert!(plain.iter().all(|(first, _)| first & 0x40 == 0));
    for offer in [
        OFFER,
        "permessage-deflate; server_max_window_bits=9",
        "permessage-deflate; server_no_context_takeover",
    ] {
        let (client, frames) = faulty(offer).await;
        let mut reading = Client { inflate: Decompress::new(false), ..client };
        let mut read = Vec::new();
        for frame in &frames {
            let is_data = frame.0 & 0x0f < 8;
            assert_eq!(frame.0 & 0x40 != 0, is_data, "{frame:?}");
            if offer.contains("no_context") {
                reading.inflate.reset(false);
            }
            read.push(reading.plain(frame.clone()));
        }
        assert_eq!(read, plain, "{offer}");
        assert_eq!(faulty(offer).await.1, frames, "the same bytes again");
    }
}

/// The bodies that the server read from messages.
fn bodies(journal: &[Exchange]) -> Vec<String> {
    let is_message = |exchange: &&Exchange| !matches!(exchange.route, Route::Upgrade(_));
    let text = |exchange: &Exchange| String::from_utf8(exchange.body.to_vec()).unwrap();
    journal.iter().filter(is_message).map(text).collect()
}

/// The examples of RFC 7692, section 7.2.3.
#[tokio::test]
async fn the_examples_of_the_standard_are_read() {
    let server = start("turns: []").await;
    let mut client = Client::open(&server, OFFER).await;
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    client.send(COMPRESSED, &hello).await;
    // In two frames, a ping between them.
    client.send(0x41, &hello[..3]).await;
    client.send(0x89, b"?").await;
    client.send(0x80, &hello[3..]).await;
    // The earlier message in the window.
    client.send(COMPRESSED, &[0xf2, 0x00, 0x11, 0x00, 0x00]).await;
    // A block without compression, a final block, two blocks, and a message that is not compressed.
    let stored = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
    client.send(COMPRESSED, &stored).await;
    client.send(COMPRESSED, &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]).await;
    let two = [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00];
    client.send(COMPRESSED, &two).await;
    client.send(TEXT, b"Hello").await;
    let mut answers = 0;
    while answers < 7 {
        match client.frame().await.unwrap() {
            (0x8a, payload) => assert_eq!(payload, b"?"),
            (first, _) => {
                assert_eq!(first, COMPRESSED);
                answers += 1;
            }
        }
    }
    assert_eq!(bodies(&server.journal().snapshot()), ["Hello"; 7]);
}

#[tokio::test]
async fn what_no_client_may_send_closes_the_connection() {
    let server = start("turns: []").await;
    for (offer, first, payload, code) in [
        // Nothing of the kind was agreed.
        ("", COMPRESSED, &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..], 1002),
        // A block of a type that there is none of; a reference to what never was.
        (OFFER, COMPRESSED, &[0x07, 0x00], 1007),
        (OFFER, COMPRESSED, &[0xf2, 0x00, 0x11, 0x00, 0x00], 1007),
        // A text that is no UTF-8, compressed and not.
        (OFFER, COMPRESSED, &[0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00], 1007),
        ("", TEXT, &[0xff], 1007),
        (OFFER, 0xd1, &[], 1002),
        (OFFER, 0xc9, &[], 1002),
    ] {
        let mut client = Client::open(&server, offer).await;
        client.send(first, payload).await;
        assert_eq!(client.close_code().await, code, "{first:x} {payload:x?}");
    }
}

#[tokio::test]
async fn a_message_that_grows_too_large_closes_the_connection() {
    let server = start("turns: []").await;
    let mut client = Client::open(&server, OFFER).await;
    let mut compress = Compress::new(Compression::fast(), false);
    let mut piece = Vec::with_capacity(1 << 16);
    compress.compress_vec(&vec![0; 1 << 20], &mut piece, FlushCompress::Full).unwrap();
    // 65 MiB from little more than half a MiB.
    client.send(COMPRESSED, &piece.repeat(65)).await;
    assert_eq!(client.close_code().await, 1009);
}
