//! What holds for any messages, against a client side of its own.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue, header};
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::*;

const LIMIT: usize = 1 << 20;

fn agreed(offer: &str) -> Agreed {
    let mut headers = HeaderMap::new();
    headers.insert(header::SEC_WEBSOCKET_EXTENSIONS, HeaderValue::from_str(offer).unwrap());
    negotiate(&headers).unwrap().unwrap()
}

async fn server(stream: DuplexStream, offer: &str) -> WebSocketStream<Incoming<DuplexStream>> {
    let config = WebSocketConfig::default().max_message_size(Some(LIMIT));
    let stream = Incoming::new(stream, Some(agreed(offer)), LIMIT);
    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await
}

/// A client's frame, masked.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | u8::try_from(length).unwrap()),
        length => {
            frame.push(0xfe);
            frame.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
    }
    let mask = [0x12, 0x34, 0x56, 0x78];
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

fn compressed(compress: &mut Compress, plain: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(plain.len() * 2 + 64);
    compress.compress_vec(plain, &mut bytes, FlushCompress::Sync).unwrap();
    // Nothing is flushed where nothing is new.
    let Some(bytes) = bytes.strip_suffix(&TAIL) else { return vec![0] };
    bytes.to_vec()
}

/// Words of few kinds, so that there is much to refer back to, and some that are all noise.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        vec(proptest::sample::select(vec!["delta", "\"type\":", "é😀", " "]), 0..600)
            .prop_map(|words| words.concat()),
        "\\PC{0,200}",
    ]
}

/// How a client sends a message.
#[derive(Debug, Clone)]
struct Sent {
    text: String,
    is_compressed: bool,
    /// Where its frames end, in bytes that are sent.
    cuts: Vec<usize>,
    is_pinged: bool,
}

fn sent() -> impl Strategy<Value = Sent> {
    let how = (text(), any::<bool>(), vec(0..400_usize, 0..4), any::<bool>());
    how.prop_map(|(text, is_compressed, cuts, is_pinged)| Sent {
        text,
        is_compressed,
        cuts,
        is_pinged,
    })
}

impl Sent {
    fn frames(&self, compress: &mut Compress, forgets: bool) -> Vec<u8> {
        let payload = if self.is_compressed {
            let mut fresh = Compress::new(Compression::fast(), false);
            compressed(if forgets { &mut fresh } else { compress }, self.text.as_bytes())
        } else {
            self.text.clone().into_bytes()
        };
        let mut frames = Vec::new();
        let mut cuts: Vec<_> = self.cuts.iter().map(|cut| (*cut).min(payload.len())).collect();
        cuts.sort_unstable();
        let mut begin = 0;
        let mut first = 0x01 | if self.is_compressed { 0x40 } else { 0 };
        for end in cuts {
            frames.extend(frame(first, &payload[begin..end]));
            if self.is_pinged {
                frames.extend(frame(0x89, b"?"));
            }
            (begin, first) = (end, 0);
        }
        frames.extend(frame(0x80 | first, &payload[begin..]));
        frames
    }
}

fn run(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever a client compresses, and however it cuts it, is read as the same messages.
    #[test]
    fn a_client_s_messages_come_in_whole(
        messages in vec(sent(), 0..6),
        forgets: bool,
        window in 9..=15_u8,
        chunk in 1..200_usize,
    ) {
        run(async {
            let (mut client, stream) = tokio::io::duplex(chunk);
            let offer = if forgets { "; client_no_context_takeover" } else { "" };
            let mut server = server(stream, &format!("permessage-deflate{offer}")).await;
            let mut compress = Compress::new_with_window_bits(Compression::best(), false, window);
            let bytes: Vec<u8> = messages
                .iter()
                .flat_map(|message| message.frames(&mut compress, forgets))
                .collect();
            let sending = async {
                // An error would mean that the server reads no more, which is seen below.
                let _ = client.write_all(&bytes).await;
                let _ = client.shutdown().await;
                // What the server says (its pongs) is taken, so that it never waits.
                let _ = client.read_to_end(&mut Vec::new()).await;
            };
            let reading = async {
                let mut read = Vec::new();
                while let Some(message) = server.next().await {
                    match message {
                        Ok(Message::Text(text)) => read.push(text.to_string()),
                        Ok(Message::Ping(_)) => {}
                        Ok(other) => panic!("{other:?}"),
                        Err(Error::Protocol(_)) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                drop(server);
                read
            };
            let ((), read) = tokio::join!(sending, reading);
            let wanted: Vec<_> = messages.iter().map(|message| message.text.clone()).collect();
            assert_eq!(read, wanted);
        });
    }

    /// Whatever the server sends can be read by a client with the agreed window, and comes in one
    /// compressed frame.
    #[test]
    fn the_server_s_messages_can_be_read(
        messages in vec((text(), any::<bool>()), 0..6),
        forgets: bool,
        window in 9..=15_u8,
    ) {
        run(async {
            let (mut client, stream) = tokio::io::duplex(1 << 20);
            let forgetting = if forgets { "; server_no_context_takeover" } else { "" };
            let offer =
                format!("permessage-deflate; server_max_window_bits={window}{forgetting}");
            let (sink, stream) = server(stream, &offer).await.split();
            let mut outgoing = Outgoing::new(sink, Some(agreed(&offer)));
            for (text, is_text) in &messages {
                let message = if *is_text {
                    Message::text(text.clone())
                } else {
                    Message::binary(text.clone())
                };
                outgoing.feed(message).await.unwrap();
                outgoing.send(Message::Ping("?".into())).await.unwrap();
            }
            drop((outgoing, stream));
            let mut bytes = Vec::new();
            client.read_to_end(&mut bytes).await.unwrap();

            let mut rest = &bytes[..];
            let mut inflate = Decompress::new_with_window_bits(false, window);
            for (text, is_text) in &messages {
                let (first, payload) = server_frame(&mut rest);
                assert_eq!(first, 0xc0 | if *is_text { 1 } else { 2 });
                if forgets {
                    inflate = Decompress::new_with_window_bits(false, window);
                }
                let payload = [payload, &TAIL].concat();
                assert_eq!(inflated(&mut inflate, &payload), text.as_bytes());
                assert_eq!(server_frame(&mut rest), (0x89, &b"?"[..]));
            }
            assert!(rest.is_empty());
        });
    }

    /// Any bytes are read without a panic, and grow no more than compressed ones can.
    #[test]
    fn any_bytes_are_read(bytes: Vec<u8>, chunk in 1..40_usize) {
        run(async {
            let (mut client, stream) = tokio::io::duplex(chunk);
            let mut incoming = Incoming::new(stream, Some(agreed("permessage-deflate")), LIMIT);
            let mut read = Vec::new();
            let sending = async {
                let _ = client.write_all(&bytes).await;
                drop(client);
            };
            let reading = async {
                if incoming.read_to_end(&mut read).await.is_ok() {
                    assert!(read.len() <= bytes.len() * 1100 + 14);
                }
                drop(incoming);
            };
            tokio::join!(sending, reading);
        });
    }
}

/// The next frame of a server: its first byte and its payload.
fn server_frame<'b>(bytes: &mut &'b [u8]) -> (u8, &'b [u8]) {
    let (length, begin) = match bytes[1] {
        126 => (usize::from(u16::from_be_bytes([bytes[2], bytes[3]])), 4),
        length => (usize::from(length), 2),
    };
    let (frame, rest) = bytes.split_at(begin + length);
    *bytes = rest;
    (frame[0], &frame[begin..])
}

/// Inflates in small pieces.
fn inflated(inflate: &mut Decompress, mut bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    loop {
        let (taken, given) = (inflate.total_in(), inflate.total_out());
        let mut piece = [0; 64];
        inflate.decompress(bytes, &mut piece, FlushDecompress::None).unwrap();
        let given = usize::try_from(inflate.total_out() - given).unwrap();
        let taken = usize::try_from(inflate.total_in() - taken).unwrap();
        if (taken, given) == (0, 0) {
            assert!(bytes.is_empty());
            return plain;
        }
        plain.extend_from_slice(&piece[..given]);
        bytes = &bytes[taken..];
    }
}

/// What comes of these frames.
async fn read(frames: &[Vec<u8>], limit: usize) -> Vec<Result<Message, Option<Violation>>> {
    let (mut client, stream) = tokio::io::duplex(1 << 20);
    client.write_all(&frames.concat()).await.unwrap();
    client.shutdown().await.unwrap();
    let stream = Incoming::new(stream, Some(agreed("permessage-deflate")), limit);
    let config = WebSocketConfig::default().max_message_size(Some(limit));
    let server = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let violation = |error: Error| match error {
        Error::Io(error) => error.get_ref()?.downcast_ref::<Violation>().copied(),
        _ => None,
    };
    server.map(|message| message.map_err(violation)).collect().await
}

/// Bytes without a pattern, the same each time.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn the_server_keeps_to_the_agreed_window() {
    for window in 9..15_u8 {
        // It comes again just outside of the window.
        let once = noise((1 << window) + 100);
        let plain = [&once[..], &once].concat();
        let length = |bits: u8| {
            let offer = format!("permessage-deflate; server_max_window_bits={bits}");
            outgoing::Deflate::new(agreed(&offer)).bytes(&plain).unwrap().len()
        };
        assert!(length(window) > plain.len() * 9 / 10, "{window}: nothing to refer back to");
        assert!(length(window + 1) < plain.len() * 7 / 10, "{window}: a larger window would show");
    }
}

#[tokio::test]
async fn the_same_messages_give_the_same_bytes() {
    let bytes = || {
        let mut deflate = outgoing::Deflate::new(agreed("permessage-deflate"));
        ["Hello", "Hello", ""].map(|text| deflate.bytes(text.as_bytes()).unwrap())
    };
    // The examples of RFC 7692, section 7.2.3.
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let again = [0xf2, 0x00, 0x11, 0x00, 0x00];
    assert_eq!(bytes(), [hello.to_vec(), again.to_vec(), vec![0]]);
    assert_eq!(bytes(), bytes());
}

#[tokio::test]
async fn a_message_that_is_too_long_is_a_violation_and_one_at_the_limit_is_none() {
    let bomb = |length: usize| {
        let mut compress = Compress::new(Compression::best(), false);
        frame(0xc1, &compressed(&mut compress, &vec![b'a'; length]))
    };
    assert_eq!(read(&[bomb(5000)], 5000).await[0], Ok(Message::text("a".repeat(5000))));
    assert_eq!(read(&[bomb(5001)], 5000).await, [Err(Some(Violation::TooLong))]);
    assert_eq!(read(&[bomb(900_000)], 5000).await, [Err(Some(Violation::TooLong))]);
}

#[tokio::test]
async fn what_comes_before_a_violation_is_read() {
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let bad = [frame(0xc1, &hello), frame(0xc1, &[0x07, 0xff]), frame(0x81, b"lost")];
    assert_eq!(
        read(&bad, LIMIT).await,
        [Ok(Message::text("Hello")), Err(Some(Violation::BadData))]
    );
}

#[tokio::test]
async fn frames_that_are_not_in_order_are_a_violation() {
    let begun = frame(0x41, &[0xf2, 0x48]);
    let mut unmasked = frame(0x80, &[]);
    unmasked[1] = 0;
    unmasked.truncate(2);
    for next in [
        // Another message, a mark on a frame that goes on, other marks, no mask.
        frame(0x81, b"a"),
        frame(0xc1, &[0]),
        frame(0xc0, &[0]),
        frame(0xa0, &[0]),
        unmasked,
    ] {
        let read = read(&[begun.clone(), next], LIMIT).await;
        assert_eq!(read, [Err(Some(Violation::Framing))]);
    }
    assert_eq!(read(&[frame(0xd1, &[0])], LIMIT).await, [Err(Some(Violation::Framing))]);
    // These are found by the layer above: a mark where there can be none.
    for wrong in [frame(0xc9, b""), frame(0xc0, &[0]), frame(0xc3, &[0])] {
        assert_eq!(read(&[wrong], LIMIT).await, [Err(None)]);
    }
}
