//! The control API.

use crate::support::{ask, model, script};
use conform_mock_server::journal::{Delivery, JournalLimits};
use conform_mock_server::server::{Control, MockServer};
use reqwest::{Client, Method};
use serde_json::{Value, json};

async fn start(text: &str, control: Control) -> MockServer {
    MockServer::builder(script(text)).control(control).start().await.unwrap()
}

/// A request to the control API: its status and its answer.
async fn call(server: &MockServer, method: Method, path: &str, body: &str) -> (u16, Value) {
    let url = format!("{}/__conform/{path}", server.url());
    let answer = Client::new().request(method, url).body(body.to_owned()).send().await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    let json = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
    (status, json)
}

async fn get(server: &MockServer, path: &str) -> Value {
    let (status, answer) = call(server, Method::GET, path, "").await;
    assert_eq!(status, 200, "{answer}");
    answer
}

/// Sends a model request of a session and reads its whole answer.
async fn send(server: &MockServer, session: &str, more: &Value) -> String {
    let url = format!("{}/s/{session}/v1/responses", server.url());
    let request = Client::new().post(url).header("user-agent", "test").json(&ask(more));
    let answer = request.send().await.unwrap().text().await.unwrap();
    // The end of an answer is noted when the server has handed it to the connection.
    let key = session.parse().unwrap();
    let journal = server.session(&key).unwrap().journal();
    journal
        .wait_until(|all| all.iter().all(|exchange| model(exchange).delivery != Delivery::Pending))
        .await;
    answer
}

/// What differs from run to run, made the same.
fn stable(server: &MockServer, value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap();
    let text = text.replace(&server.address().to_string(), "[address]");
    let stable = |line: &str| match line.split_once("\"received_us\": ") {
        Some((before, _)) => format!("{before}\"received_us\": [time],"),
        None => line.to_owned(),
    };
    text.lines().map(stable).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_session_is_loaded_led_and_judged() {
    let server = start("turns: []", Control::open()).await;
    let yaml = "turns:\n  - {say: Hello, gate: go}\n  - {say: Unused}\n";
    let (status, made) = call(&server, Method::PUT, "sessions/a/script", yaml).await;
    assert_eq!(status, 201);
    insta::assert_snapshot!("a_session_that_was_made", stable(&server, &made));

    let gates = get(&server, "sessions/a/gates").await;
    assert_eq!(gates["gates"], json!([{"name": "go", "open": false}]));
    let (status, gates) = call(&server, Method::POST, "sessions/a/gates/go", "").await;
    assert_eq!((status, &gates["gates"]), (200, &json!([{"name": "go", "open": true}])));
    assert!(send(&server, "a", &json!({})).await.contains("Hello"));
    assert!(send(&server, "a", &json!({"tools": [], "input": "2"})).await.contains("Unused"));
    assert!(
        send(&server, "a", &json!({"stream": false})).await.contains("conform_script_mismatch")
    );

    insta::assert_snapshot!(
        "the_list_of_sessions",
        stable(&server, &get(&server, "sessions").await)
    );
    let journal = get(&server, "sessions/a/journal").await;
    insta::assert_snapshot!("a_journal", stable(&server, &journal));
    let verdict = get(&server, "sessions/a/verdict").await;
    insta::assert_snapshot!("a_verdict", stable(&server, &verdict));
    assert_eq!(get(&server, "sessions/a/journal/2").await, journal["exchanges"][1]);

    let (status, fresh) = call(&server, Method::POST, "sessions/a/reset", "").await;
    assert_eq!((status, &fresh), (200, &made));
    let verdict = get(&server, "sessions/a/verdict").await;
    assert_eq!(verdict["unused"][1], json!({"turn": 1, "label": "turn 2"}));
    assert_eq!(call(&server, Method::DELETE, "sessions/a", "").await, (204, Value::Null));
    assert_eq!(call(&server, Method::GET, "sessions/a", "").await.0, 404);
    assert!(server.journal().is_empty(), "the control API is in no journal");
}

#[tokio::test]
async fn a_script_may_be_json_and_may_replace_one() {
    let server = start("turns: [{say: first}]", Control::open()).await;
    let body = json!({"turns": [{"say": "second \u{1f600}"}]}).to_string();
    let (status, answer) = call(&server, Method::PUT, "sessions/default/script", &body).await;
    assert_eq!(status, 200, "{answer}");
    assert!(send(&server, "default", &json!({"stream": false})).await.contains("second \u{1f600}"));
    assert_eq!(get(&server, "sessions/default/verdict").await["holds"], true);
}

#[tokio::test]
async fn what_is_wrong_with_a_script_is_said_and_changes_nothing() {
    let server = start("turns: [{say: kept}]", Control::open()).await;
    let yaml = "turns:\n  - sya: Hello\n  - {say: x, gate: [1]}\n";
    let (status, answer) = call(&server, Method::PUT, "sessions/default/script", yaml).await;
    assert_eq!(status, 422);
    insta::assert_snapshot!("what_is_wrong_with_a_script", stable(&server, &answer));
    assert!(send(&server, "default", &json!({})).await.contains("kept"));
    assert_eq!(call(&server, Method::PUT, "sessions/new/script", "turns: {").await.0, 422);
    assert_eq!(get(&server, "sessions").await["sessions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let server = start("turns: []", Control::open()).await;
    let mut shown = Vec::new();
    for (method, path, body) in [
        (Method::GET, "", ""),
        (Method::GET, "sessions/none", ""),
        (Method::GET, "sessions/a%20b", ""),
        (Method::POST, "sessions/default/reset/x", ""),
        (Method::GET, "sessions/default/reset", ""),
        (Method::DELETE, "sessions/default", ""),
        (Method::GET, "sessions/default/journal/1", ""),
        (Method::GET, "sessions/default/journal?page=2", ""),
        (Method::POST, "sessions/default/gates/%zz", ""),
    ] {
        let name = format!("{method} {path}");
        let (status, answer) = call(&server, method, path, body).await;
        shown.push(format!("{name}\n{status} {answer}\n"));
    }
    insta::assert_snapshot!(shown.join("\n"));
    let url = format!("{}/__conform/sessions/default/script", server.url());
    let put = |body: Vec<u8>| Client::new().put(&url).body(body).send();
    assert_eq!(put(vec![0xff]).await.unwrap().status(), 400);
    assert_eq!(put(vec![b'a'; 8 * 1024 * 1024 + 1]).await.unwrap().status(), 413);
}

#[tokio::test]
async fn without_being_asked_for_it_is_not_there() {
    let server = MockServer::builder(script("turns: []")).start().await.unwrap();
    let (status, answer) = call(&server, Method::GET, "sessions", "").await;
    assert_eq!((status, answer["error"]["code"].as_str()), (404, Some("unknown_url")));
    assert_eq!(server.journal().len(), 1);
}

#[tokio::test]
async fn a_token_guards_the_control_api_alone() {
    let server =
        start("turns: [{say: Hello}]", Control::guarded("a-long-secret".parse().unwrap())).await;
    let url = format!("{}/__conform/sessions", server.url());
    let client = Client::new();
    let statuses = [
        client.get(&url),
        client.get(&url).bearer_auth("a-long-secreT"),
        client.get(&url).header("x-conform-token", ""),
        client.get(&url).bearer_auth("a-long-secret"),
        client.get(&url).header("x-conform-token", "a-long-secret"),
        client.get(&url).bearer_auth("another").header("x-conform-token", "a-long-secret"),
    ]
    .map(|request| async { request.send().await.unwrap().status().as_u16() });
    let mut seen = Vec::new();
    for status in statuses {
        seen.push(status.await);
    }
    assert_eq!(seen, [401, 401, 401, 200, 200, 200]);
    let refused = client.put(format!("{url}/a/script")).body("turns: []").send().await.unwrap();
    assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    assert!(!refused.text().await.unwrap().contains("a-long-secret"));
    assert_eq!(server.sessions().len(), 1);
    assert!(send(&server, "default", &json!({})).await.contains("Hello"));
}

#[tokio::test]
async fn a_journal_is_read_in_pages_and_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let limits =
        JournalLimits { entries: 2, spill: Some(folder.path().to_owned()), ..JournalLimits::NONE };
    let server = MockServer::builder(script("turns: []"))
        .journal(limits)
        .control(Control::open())
        .start()
        .await
        .unwrap();
    let sink = format!("{}/sink/x", server.url());
    for number in 1..=7_u8 {
        let body = vec![b'0' + number, 0xff];
        Client::new().post(&sink).body(body).send().await.unwrap();
    }
    let mut numbers = Vec::new();
    let mut next = json!(0);
    while let Some(after) = next.as_u64() {
        let page = get(&server, &format!("sessions/default/journal?limit=3&after={after}")).await;
        let exchanges = page["exchanges"].as_array().unwrap();
        numbers.extend(exchanges.iter().map(|exchange| exchange["number"].as_u64().unwrap()));
        assert_eq!(page["counts"]["exchanges"], 7);
        next = page["next"].clone();
    }
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
    assert_ne!(get(&server, "sessions/default").await["counts"]["spilled"], 0);
    let body = format!("{}/__conform/sessions/default/journal/1/body", server.url());
    assert_eq!(reqwest::get(body).await.unwrap().bytes().await.unwrap().as_ref(), b"1\xff");
}

#[tokio::test]
async fn what_was_dropped_is_said_and_keeps_a_verdict_from_holding() {
    let server = MockServer::builder(script("turns: [{say: a}]"))
        .journal(JournalLimits { entries: 1, ..JournalLimits::NONE })
        .control(Control::open())
        .start()
        .await
        .unwrap();
    send(&server, "default", &json!({})).await;
    Client::new().post(format!("{}/sink/x", server.url())).send().await.unwrap();
    let journal = get(&server, "sessions/default/journal").await;
    assert_eq!(journal["counts"]["dropped"], 1);
    assert!(journal["exchanges"][0]["missing"].as_str().unwrap().contains("no longer kept"));
    assert_eq!(call(&server, Method::GET, "sessions/default/journal/1", "").await.0, 410);
    let verdict = get(&server, "sessions/default/verdict").await;
    assert_eq!((&verdict["holds"], &verdict["counts"]["served"]), (&json!(false), &json!(1)));
    assert_eq!(verdict["mismatches"][0]["kind"], "not-kept");
}

#[tokio::test]
async fn a_verdict_on_the_client_stands_beside_the_one_on_the_script() {
    let judge = |exchanges: &[_]| json!({"requests": exchanges.len()});
    let server = start("turns: [{say: a}]", Control::open().client_verdict(judge)).await;
    send(&server, "default", &json!({})).await;
    let verdict = get(&server, "sessions/default/verdict").await;
    assert_eq!(verdict["client"], json!({"requests": 1}));
    assert_eq!(verdict["holds"], true);
}
