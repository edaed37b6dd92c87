//! Recording: a real service's replies become a script that plays them again.

use std::path::Path;

use crate::support::{script, start};
use conform_mock_server::record::{RecordError, RecordOptions, RecordSummary, Scrubber, record};
use conform_mock_server::script::{Item, Reply, Script};
use conform_mock_server::server::MockServer;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wiremock::matchers::{header, header_exists, method, path};
use wiremock::{Mock, MockServer as Upstream, ResponseTemplate};

/// A recorder that runs beside the test.
struct Recorder {
    base_url: String,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<RecordSummary, RecordError>>,
    folder: tempfile::TempDir,
}

impl Recorder {
    async fn start(upstream: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let recording = record(options(upstream, &folder.path().join("out.yaml"))).await.unwrap();
        let base_url = recording.ready().base_url;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(recording.run_until(async {
            let _ = stopped.await;
        }));
        Self { base_url, stop, task, folder }
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        let request = Client::new().post(format!("{}{path}", self.base_url));
        let request = request.header("anthropic-version", "2023-06-01");
        request.bearer_auth("the clients own key").json(body).send().await.unwrap()
    }

    /// Stops, and reads what was written.
    async fn stop(self) -> (String, RecordSummary) {
        self.stop.send(()).unwrap();
        let summary = self.task.await.unwrap().unwrap();
        let text = std::fs::read_to_string(self.folder.path().join("out.yaml")).unwrap();
        (text, summary)
    }
}

fn options(upstream: &str, out: &Path) -> RecordOptions {
    RecordOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        upstream: upstream.parse().unwrap(),
        out: out.to_owned(),
        replace: false,
        scrubber: Scrubber::with(&["employee-[0-9]+"]).unwrap(),
    }
}

/// A script with everything that each wire can say.
const EVERYTHING: &str = r#"
turns:
  - say: "Two lines,\nand ünïcödé \u2028 \U0001F600."
  - calls:
      - {name: f, arguments: {a: [1, null, "x"], b: {}}}
      - {name: g, raw_arguments: "{ \"a\": 1.50 }", call_id: call_own}
  - items:
      - reasoning: {summary: "Let me think.", encrypted_content: opaque}
      - say: I will look.
      - call: {name: f, arguments: {}}
    usage: {input: 300, cached: 200, output: 50, reasoning: 10}
  - say: And then it was
    ending: length
  - items: []
"#;

fn body(stream: bool, wire: &str) -> Value {
    let parameters = json!({"type": "object"});
    let tools: Value = ["f", "g"]
        .map(|name| match wire {
            "/chat/completions" => {
                json!({"type": "function", "function": {"name": name, "parameters": parameters}})
            }
            "/messages" => json!({"name": name, "input_schema": parameters}),
            _ => json!({"type": "function", "name": name, "parameters": parameters}),
        })
        .into_iter()
        .collect();
    let mut body = json!({"model": "m", "stream": stream, "tools": tools});
    if wire == "/responses" {
        body["input"] = json!("Hello");
    } else {
        body["messages"] = json!([{"role": "user", "content": "Hello"}]);
        body["max_tokens"] = json!(100);
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

/// The bytes of each turn of a script on a wire.
async fn play(server: &MockServer, stream: bool, wire: &str) -> Vec<String> {
    let mut played = Vec::new();
    for _ in 0..server.script().turns.len() {
        let request = Client::new().post(format!("{}{wire}", server.base_url()));
        let request = request.header("anthropic-version", "2023-06-01");
        let answer = request.json(&body(stream, wire)).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        played.push(answer.text().await.unwrap());
    }
    played
}

/// The replies without their call ids, which a recording has and its original need not.
fn replies(script: &Script) -> Vec<Reply> {
    let without_call_ids = |item: &Item| match item {
        Item::Call(call) => {
            let mut call = call.clone();
            call.call_id = None;
            Item::Call(call)
        }
        other => other.clone(),
    };
    let reply = |turn: &conform_mock_server::script::Turn| Reply {
        items: turn.reply.items.iter().map(without_call_ids).collect(),
        ..turn.reply.clone()
    };
    script.turns.iter().map(reply).collect()
}

#[tokio::test]
async fn a_recording_of_the_mock_plays_the_very_same_bytes() {
    for wire in ["/responses", "/chat/completions", "/messages"] {
        for stream in [true, false] {
            let original = start(EVERYTHING).await;
            let recorder = Recorder::start(&original.base_url()).await;
            let mut passed = Vec::new();
            for _ in 0..original.script().turns.len() {
                let answer = recorder.post(wire, &body(stream, wire)).await;
                assert_eq!(answer.status(), 200);
                passed.push(answer.text().await.unwrap());
            }
            let (text, summary) = recorder.stop().await;
            assert_eq!(summary, RecordSummary { turns: 5, missing: vec![] }, "{text}");

            let again = start(EVERYTHING).await;
            assert_eq!(passed, play(&again, stream, wire).await, "passed on as it came");
            let copy = start(&text).await;
            assert_eq!(play(&copy, stream, wire).await, passed, "{wire} {stream}\n{text}");
            copy.assert_finished();
            if wire == "/responses" {
                let (copied, written) = (replies(copy.script()), replies(original.script()));
                assert_eq!(copied, written);
            }
        }
    }
}

#[tokio::test]
async fn a_recording_is_a_script_to_read() {
    let original = start(EVERYTHING).await;
    let recorder = Recorder::start(&original.base_url()).await;
    for _ in 0..5 {
        recorder.post("/responses", &body(true, "/responses")).await.text().await.unwrap();
    }
    insta::assert_snapshot!(recorder.stop().await.0);
}

#[tokio::test]
async fn traffic_passes_unchanged_but_for_the_connection() {
    let upstream = Upstream::start().await;
    Mock::given(method("POST"))
        .and(path("/api/v1/messages"))
        .and(header("authorization", "Bearer the clients own key"))
        .and(header("x-more", "yes"))
        .and(header("accept-encoding", "identity"))
        .and(header_exists("host"))
        .respond_with(
            ResponseTemplate::new(200)
                .insert_header("request-id", "req_1")
                .insert_header("set-cookie", "session=secret-cookie")
                .set_body_json(json!({
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Hello"}],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 1, "output_tokens": 2},
                })),
        )
        .expect(1)
        .mount(&upstream)
        .await;
    let recorder = Recorder::start(&format!("{}/api/", upstream.uri())).await;
    assert!(recorder.base_url.ends_with("/api"));
    let answer = Client::new()
        .post(format!("{}/v1/messages?beta=true", recorder.base_url))
        .bearer_auth("the clients own key")
        .header("x-more", "yes")
        .header("accept-encoding", "gzip")
        .json(&json!({"model": "m"}))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["request-id"], "req_1");
    assert_eq!(answer.json::<Value>().await.unwrap()["content"][0]["text"], "Hello");
    let sent = upstream.received_requests().await.unwrap().pop().unwrap();
    assert_eq!(
        (sent.url.query(), sent.body.as_slice()),
        (Some("beta=true"), &br#"{"model":"m"}"#[..])
    );
    let (text, _) = recorder.stop().await;
    let usage = "usage: {input: 1, cached: 0, output: 2, reasoning: 0}";
    assert!(text.contains("say: \"Hello\"") && text.contains(usage), "{text}");
    assert!(!text.contains("secret-cookie") && !text.contains("req_1"), "{text}");
}

#[tokio::test]
async fn a_stream_is_passed_on_as_it_comes() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (go_on, told) = oneshot::channel();
    let first = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"One\"}}]}\n\n";
    let rest = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let upstream = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"{}") {
            stream.read_buf(&mut request).await.unwrap();
        }
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(format!("{head}{first}").as_bytes()).await.unwrap();
        // Nothing more is sent until the client has the first event.
        told.await.unwrap();
        stream.write_all(rest.as_bytes()).await.unwrap();
    });
    let recorder = Recorder::start(&format!("http://{address}")).await;
    let mut answer = recorder.post("/chat/completions", &json!({})).await;
    assert_eq!(answer.chunk().await.unwrap().unwrap(), first);
    go_on.send(()).unwrap();
    assert_eq!(answer.text().await.unwrap(), rest);
    upstream.await.unwrap();
    let (text, _) = recorder.stop().await;
    assert_eq!(script(&text).turns[0].reply.items, [Item::message("One")]);
}

#[tokio::test]
async fn secrets_never_reach_the_disk() {
    let arguments =
        json!({"sk-abcdefghijklmnopqrst": ["ghp_abcdefghijklmnopqrstuvwx"]}).to_string();
    let event =
        |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let message = |text: &str| {
        let part = json!({"type": "output_text", "text": text, "annotations": []});
        json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [part]})
    };
    let mut stream = String::new();
    // In pieces, none of which looks like a secret by itself.
    for piece in ["Your key is the-", "clients-own-key, employee-", "42"] {
        stream.push_str(&event(json!({"type": "response.output_text.delta", "delta": piece})));
    }
    let items = [
        message("Your key is the-clients-own-key, employee-42"),
        json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments}),
        json!({"type": "custom_tool_call", "call_id": "d", "name": "g",
            "input": "export KEY=sk-ant-abcdefghijklmnop org-abcdefghijklmnop"}),
        json!({"type": "reasoning", "summary": [{"type": "summary_text",
            "text": "acme-incorporated pays"}], "encrypted_content": "opaque"}),
    ];
    for (index, item) in items.iter().enumerate() {
        stream.push_str(&event(json!({"type": "response.output_item.done", "output_index": index,
            "item": item})));
    }
    stream.push_str(&event(json!({"type": "response.completed",
        "response": {"status": "completed", "output": items}})));
    let upstream = Upstream::start().await;
    let answer = ResponseTemplate::new(200).set_body_raw(stream.clone(), "text/event-stream");
    Mock::given(method("POST")).respond_with(answer).mount(&upstream).await;

    let recorder = Recorder::start(&upstream.uri()).await;
    let passed = Client::new()
        .post(format!("{}/responses", recorder.base_url))
        .bearer_auth("the-clients-own-key")
        .header("openai-organization", "acme-incorporated")
        .json(&json!({"model": "m", "input": "my password is hunter2"}))
        .send()
        .await
        .unwrap();
    assert_eq!(passed.text().await.unwrap(), stream, "the client gets what the service said");
    let (text, summary) = recorder.stop().await;
    for secret in ["clients-own", "employee", "sk-", "ghp_", "org-", "acme", "hunter2", "Bearer"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert_eq!(summary.turns, 1);
    insta::assert_snapshot!(text);
    script(&text);
}

#[tokio::test]
async fn what_cannot_be_recorded_is_passed_on_and_named() {
    let upstream = Upstream::start().await;
    let at = |place: &str| Mock::given(method("POST")).and(path(place.to_owned()));
    let limited = ResponseTemplate::new(429)
        .insert_header("retry-after", "7")
        .set_body_json(json!({"error": {"code": "rate_limit_exceeded"}}));
    at("/responses").respond_with(limited).mount(&upstream).await;
    let cut =
        ResponseTemplate::new(200).set_body_raw("data: {\"choices\": []}\n\n", "text/event-stream");
    at("/chat/completions").respond_with(cut).mount(&upstream).await;
    let searched = ResponseTemplate::new(200).set_body_json(json!({
        "content": [{"type": "server_tool_use"}, {"type": "text", "text": "Found."}],
        "stop_reason": "end_turn",
    }));
    at("/messages").respond_with(searched).mount(&upstream).await;
    let recorder = Recorder::start(&upstream.uri()).await;

    let answer = recorder.post("/responses", &json!({})).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["retry-after"]),
        (429, &"7".parse().unwrap())
    );
    answer.text().await.unwrap();
    recorder.post("/chat/completions", &json!({})).await.text().await.unwrap();
    recorder.post("/messages", &json!({})).await.text().await.unwrap();
    recorder.post("/files", &json!({})).await.text().await.unwrap();
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary.turns, 1);
    assert_eq!(
        summary.missing,
        [
            "POST /responses: the service answered with status 429",
            "POST /chat/completions: the reply has no finish reason",
            "POST /messages: a block of type \"server_tool_use\"",
        ]
    );
    insta::assert_snapshot!(text);
    assert_eq!(script(&text).turns.len(), 1);
}

#[tokio::test]
async fn a_recording_of_nothing_is_a_script_too() {
    let upstream = Upstream::start().await;
    let recorder = Recorder::start(&upstream.uri()).await;
    let (text, summary) = recorder.stop().await;
    assert_eq!(summary, RecordSummary { turns: 0, missing: vec![] });
    assert!(script(&text).turns.is_empty());
}

#[tokio::test]
async fn replies_are_written_in_the_order_of_their_requests() {
    let original = start("turns: [{say: first, gate: late}, {say: second}]").await;
    let recorder = Recorder::start(&original.base_url()).await;
    let url = format!("{}/responses", recorder.base_url);
    let request = Client::new().post(url).json(&body(true, "/responses"));
    let first = tokio::spawn(request.send());
    original.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    recorder.post("/responses", &body(true, "/responses")).await.text().await.unwrap();
    original.gates().open("late");
    first.await.unwrap().unwrap().text().await.unwrap();
    let (text, _) = recorder.stop().await;
    let said: Vec<_> = script(&text).turns.into_iter().map(|turn| turn.reply).collect();
    assert_eq!(said, [Reply::say("first"), Reply::say("second")]);
}

#[tokio::test]
async fn a_client_that_leaves_leaves_a_note() {
    let original = start("turns: [{say: first, gate: never}, {say: second}]").await;
    let recorder = Recorder::start(&original.base_url()).await;
    let url = format!("{}/responses", recorder.base_url);
    let request = Client::new().post(url).json(&body(true, "/responses"));
    let leaving = tokio::spawn(request.send());
    original.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    leaving.abort();
    let abandoned = |exchanges: &[conform_mock_server::journal::Exchange]| {
        let delivery = crate::support::model(&exchanges[0]).delivery;
        delivery == conform_mock_server::journal::Delivery::Abandoned
    };
    original.journal().wait_until(abandoned).await;
    recorder.post("/responses", &body(true, "/responses")).await.text().await.unwrap();
    let (text, summary) = recorder.stop().await;
    assert_eq!(script(&text).turns.len(), 1);
    assert_eq!(
        summary.missing,
        ["POST /v1/responses: the client went away before it was answered"]
    );
}

#[tokio::test]
async fn what_is_not_for_the_service_is_refused() {
    let upstream = Upstream::start().await;
    let recorder = Recorder::start(&format!("{}/v1", upstream.uri())).await;
    let root = recorder.base_url.strip_suffix("/v1").unwrap().to_owned();
    let client = Client::new();
    let outside = client.post(format!("{root}/responses")).send().await.unwrap();
    assert_eq!(outside.status(), 404);
    let error = outside.json::<Value>().await.unwrap();
    assert_eq!(error["error"]["code"], "conform_outside_upstream");
    assert!(upstream.received_requests().await.unwrap().is_empty());
    recorder.stop().await;
}

#[tokio::test]
async fn a_service_that_is_not_there_is_said_to_be() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let recorder = Recorder::start(&format!("http://{address}")).await;
    let answer = recorder.post("/responses", &json!({})).await;
    assert_eq!(answer.status(), 502);
    let error = answer.json::<Value>().await.unwrap();
    assert_eq!(error["error"]["code"], "conform_upstream_unreachable");
    let (_, summary) = recorder.stop().await;
    assert_eq!(summary.missing, ["POST /responses: the service could not be reached"]);
}

#[tokio::test]
async fn a_recorder_starts_only_where_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.yaml");
    std::fs::write(&out, "kept").unwrap();
    let error = record(options("http://127.0.0.1:1", &out)).await.unwrap_err();
    assert!(matches!(error, RecordError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "kept");

    let replaced = RecordOptions { replace: true, ..options("http://127.0.0.1:1", &out) };
    record(replaced).await.unwrap().run_until(async {}).await.unwrap();
    assert!(std::fs::read_to_string(&out).unwrap().ends_with("turns: []\n"));

    let new = folder.path().join("new.yaml");
    let open = RecordOptions {
        listen: "0.0.0.0:0".parse().unwrap(),
        ..options("http://127.0.0.1:1", &new)
    };
    assert!(matches!(record(open).await.unwrap_err(), RecordError::NotLoopback { .. }));
    assert!(!new.exists());
}
