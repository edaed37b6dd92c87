//! Recording what goes over a `WebSocket`.

use std::net::SocketAddr;

use crate::handshake::upgrades;
use crate::support::{Socket, create, open, said, script, start, try_open_at, types, user};
use conform_mock_server::record::{RecordError, RecordOptions, RecordSummary, Scrubber, record};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

/// A recorder that runs beside the test.
struct Recorder {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<RecordSummary, RecordError>>,
    folder: tempfile::TempDir,
}

impl Recorder {
    async fn start(upstream: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = RecordOptions {
            listen: "127.0.0.1:0".parse().unwrap(),
            upstream: upstream.parse().unwrap(),
            out: folder.path().join("out.yaml"),
            replace: false,
            scrubber: Scrubber::with(&[]).unwrap(),
        };
        let recording = record(options).await.unwrap();
        let base_url = recording.ready().base_url;
        let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
        let address = address.parse().unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(recording.run_until(async {
            let _ = stopped.await;
        }));
        Self { address, stop, task, folder }
    }

    async fn open(&self) -> Socket {
        let key = [("authorization", "Bearer the-clients-own-key")];
        try_open_at(self.address, &key).await.unwrap()
    }

    /// Stops, and reads what was written.
    async fn stop(self) -> (String, RecordSummary) {
        self.stop.send(()).unwrap();
        let summary = self.task.await.unwrap().unwrap();
        let text = std::fs::read_to_string(self.folder.path().join("out.yaml")).unwrap();
        (text, summary)
    }
}

const SEVERAL: &str = r#"
turns:
  - say: "Two lines,\nand ünïcödé \u2028."
  - calls:
      - {name: f, arguments: {a: [1, null, "x"], b: {}}}
      - {name: g, raw_arguments: "{ \"a\": 1.50 }"}
  - items:
      - reasoning: {summary: "Let me think.", encrypted_content: opaque}
      - say: I will look.
    usage: {input: 300, cached: 200, output: 50, reasoning: 10}
  - say: And then it was
    ending: length
"#;

async fn play(socket: &mut Socket, turns: usize) -> Vec<Vec<Value>> {
    let mut played = Vec::new();
    for _ in 0..turns {
        played.push(socket.ask(&json!({})).await);
    }
    played
}

#[tokio::test]
async fn a_recording_over_a_socket_plays_the_very_same_messages() {
    let original = start(SEVERAL).await;
    let recorder = Recorder::start(&original.base_url()).await;
    let passed = play(&mut recorder.open().await, 4).await;
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary, RecordSummary { turns: 4, missing: vec![] }, "{text}");

    let again = start(SEVERAL).await;
    assert_eq!(passed, play(&mut open(&again).await, 4).await, "passed on as it came");
    let copy = start(&text).await;
    assert_eq!(play(&mut open(&copy).await, 4).await, passed, "{text}");
    copy.assert_finished();
}

#[tokio::test]
async fn compression_is_neither_offered_nor_agreed() {
    let original = start("turns: [{say: Hello.}]").await;
    let recorder = Recorder::start(&original.base_url()).await;
    let offer = [("sec-websocket-extensions", "permessage-deflate")];
    let mut socket = try_open_at(recorder.address, &offer).await.unwrap();
    assert!(!socket.headers.contains_key("sec-websocket-extensions"), "{:?}", socket.headers);
    assert_eq!(said(&socket.response(&json!({})).await), "Hello.");
    assert_eq!(upgrades(&original)[0].extensions, None);
    let asked = &original.journal().snapshot()[0].headers;
    assert!(asked.iter().all(|(name, _)| name != "sec-websocket-extensions"), "{asked:?}");
    let (_, summary) = recorder.stop().await;
    assert_eq!(summary.turns, 1);
}

#[tokio::test]
async fn a_warm_up_is_no_turn_and_a_response_can_be_continued() {
    let original = start("turns: [{say: One.}, {say: Two.}]").await;
    let recorder = Recorder::start(&original.base_url()).await;
    let mut socket = recorder.open().await;
    let warm_up = socket.ask(&json!({"generate": false})).await;
    assert_eq!(types(&warm_up), ["response.created", "response.completed"]);
    let id = warm_up[1]["response"]["id"].clone();
    let first = socket.response(&json!({"previous_response_id": id})).await;
    assert_eq!(said(&first), "One.");
    let more = json!({"previous_response_id": first["id"], "input": [user("More")]});
    assert_eq!(said(&socket.response(&more).await), "Two.");
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary, RecordSummary { turns: 2, missing: vec![] }, "{text}");
    original.assert_finished();
}

#[tokio::test]
async fn what_each_stream_said_is_told_apart() {
    let original = start("turns: [{say: One.}, {say: Two.}]").await;
    let recorder = Recorder::start(&original.base_url()).await;
    let mut socket = recorder.open().await;
    for stream in ["a", "b"] {
        socket.send(&create(&json!({"stream_id": stream}))).await;
    }
    for stream in ["a", "b"] {
        let events = socket.events().await;
        assert!(events.iter().all(|event| event["stream_id"] == stream), "{events:?}");
    }
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary, RecordSummary { turns: 2, missing: vec![] }, "{text}");
    assert!(text.find("One.") < text.find("Two."), "{text}");
}

const REFUSING: &str = r#"
turns: [{say: One.}, {say: Two.}]
connections:
  - handshake: {headers: {x-codex-turn-state: A, x-models-etag: '"1"'}}
  - handshake:
      status: 429
      code: too_many
      message: "Not now: \"later\", é."
      headers: {x-ratelimit-reset-requests: 1s, retry-after: "3", x-should-retry: "true"}
  - {}
"#;

/// The head and the body of the answer to an upgrade request, as they came; the connection is left
/// open if there is one.
async fn answer(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET /v1/responses HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\n\
                   upgrade: websocket\r\nsec-websocket-version: 13\r\n\
                   sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(answer.clone()).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    answer.extend(body);
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_refusal_plays_as_it_was_recorded() {
    let original = start(REFUSING).await;
    let recorder = Recorder::start(&original.base_url()).await;
    let mut first = recorder.open().await;
    assert_eq!(said(&first.response(&json!({})).await), "One.");
    assert_eq!(try_open_at(recorder.address, &[]).await.unwrap_err().status(), 429);
    assert_eq!(said(&recorder.open().await.response(&json!({})).await), "Two.");
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary, RecordSummary { turns: 2, missing: vec![] }, "{text}");
    let connections = text.split_once("connections:\n").unwrap().1;
    insta::assert_snapshot!("recorded_connections", connections);

    // Byte for byte, in the order of the headers too.
    let (again, copy) = (start(REFUSING).await, start(&text).await);
    for _ in 0..3 {
        assert_eq!(answer(copy.address()).await, answer(again.address()).await, "{text}");
    }
}

#[tokio::test]
async fn a_refusal_keeps_its_place_behind_connections_that_were_let_in() {
    let original = start(
        "turns: [{say: One.}]
connections: [{}, {}, {handshake: {status: 426}}, {}]",
    )
    .await;
    let recorder = Recorder::start(&original.base_url()).await;
    let _open = [recorder.open().await, recorder.open().await];
    assert_eq!(try_open_at(recorder.address, &[]).await.unwrap_err().status(), 426);
    let mut last = recorder.open().await;
    assert_eq!(said(&last.response(&json!({})).await), "One.");
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary.missing, [""; 0]);
    let copy = script(&text);
    let statuses: Vec<_> = copy
        .connections
        .iter()
        .map(|connection| connection.handshake.refusal.as_ref().map(|refusal| refusal.status))
        .collect();
    assert_eq!(statuses, [None, None, Some(426)], "{text}");
}

/// A service that answers every request with these bytes.
async fn always(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn what_a_script_cannot_say_of_a_refusal_is_named() {
    for (answer, missing, written) in [
        (
            "HTTP/1.1 503 Away\r\ncontent-length: 4\r\n\r\nLeft",
            "the body of the refusal with status 503: it is no error of the API",
            "connections:\n  # left out: the body of the refusal with status 503: it is no error of \
             the API\n  - handshake: {status: 503}\n",
        ),
        (
            "HTTP/1.1 403 No\r\ncontent-length: 52\r\n\r\n\
             {\"error\": {\"message\": \"No.\", \"type\": \"permission\"}}\n",
            "the type \"permission\" of the refusal with status 403",
            "  - handshake: {status: 403, message: \"No.\"}\n",
        ),
        (
            "HTTP/1.1 302 Elsewhere\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
            "the service answered with status 302",
            "# GET /v1/responses: not recorded: the service answered with status 302\nturns: []\n",
        ),
    ] {
        let service = always(answer).await;
        let recorder = Recorder::start(&format!("http://{service}/v1")).await;
        let status = try_open_at(recorder.address, &[]).await.unwrap_err().status().as_u16();
        assert!(answer.contains(&status.to_string()));
        let (text, summary) = recorder.stop().await;
        assert_eq!(summary.missing, [format!("GET /v1/responses: {missing}")]);
        assert!(text.ends_with(written), "{text}");
        script(&text);
    }
}

#[tokio::test]
async fn secrets_of_a_handshake_never_reach_the_disk() {
    let original = start(
        "turns: []
connections:
  - handshake: {headers: {x-codex-turn-state: the-clients-own-key, x-models-etag: kept}}
  - handshake:
      status: 401
      code: ghp_abcdefghijklmnopqrstuvwx
      message: The key the-clients-own-key or sk-abcdefghijklmnop1234 is wrong.
      headers: {set-cookie: session=private, x-codex-a: sk-abcdefghijklmnop1234, retry-after: '1'}",
    )
    .await;
    let recorder = Recorder::start(&original.base_url()).await;
    drop(recorder.open().await);
    let key = [("authorization", "Bearer the-clients-own-key")];
    assert_eq!(try_open_at(recorder.address, &key).await.unwrap_err().status(), 401);
    let (text, _) = recorder.stop().await;
    for secret in ["own-key", "sk-abc", "ghp_", "private", "cookie", "turn-state", "x-codex-a"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let copy = script(&text);
    let [let_in, refused] = copy.connections.as_slice() else { panic!("{text}") };
    assert_eq!(let_in.handshake.headers, [("x-models-etag".to_owned(), "kept".to_owned())]);
    assert_eq!(refused.handshake.headers, [("retry-after".to_owned(), "1".to_owned())]);
    let refusal = refused.handshake.refusal.as_ref().unwrap();
    assert_eq!(refusal.message.as_deref(), Some("The key [redacted] or [redacted] is wrong."));
}

#[tokio::test]
async fn an_end_in_the_middle_is_passed_on_and_noted() {
    for (how, closes) in [
        ("close: {after_event: 3, code: 1011, reason: restart}", true),
        ("drop: {after_event: 3}", false),
    ] {
        let original =
            start(&format!("turns: [{{say: Hello.}}]\nconnections: [{{fault: {{{how}}}}}]")).await;
        let recorder = Recorder::start(&original.base_url()).await;
        let mut socket = recorder.open().await;
        socket.send(&create(&json!({}))).await;
        let rest = socket.rest().await;
        assert_eq!(rest.iter().filter(|message| message.is_text()).count(), 3, "{how}");
        match rest.last() {
            Some(Message::Close(Some(frame))) => {
                assert!(closes);
                assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1011, "restart"));
            }
            _ => assert!(!closes, "{rest:?}"),
        }
        let (text, summary) = recorder.stop().await;
        assert_eq!(
            summary.missing,
            ["GET /v1/responses: the connection ended before the response did"],
            "{text}"
        );
    }
}

#[tokio::test]
async fn an_error_is_no_turn_and_the_connection_goes_on() {
    let original = start("turns: [{say: Hello.}]").await;
    let recorder = Recorder::start(&original.base_url()).await;
    let mut socket = recorder.open().await;
    let error = socket.error(&json!({"previous_response_id": "resp_none"})).await;
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    assert_eq!(said(&socket.response(&json!({})).await), "Hello.");
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary.turns, 1, "{text}");
    assert_eq!(
        summary.missing,
        ["GET /v1/responses: the service answered with an error: previous_response_not_found"]
    );
}

#[tokio::test]
async fn credentials_that_come_back_never_reach_the_disk() {
    let original = start("turns: [{say: Your key is the-clients-own-key.}]").await;
    let recorder = Recorder::start(&original.base_url()).await;
    let response = recorder.open().await.response(&json!({})).await;
    assert_eq!(said(&response), "Your key is the-clients-own-key.");
    let (text, _) = recorder.stop().await;
    assert!(text.contains("[redacted]") && !text.contains("own-key"), "{text}");
}
