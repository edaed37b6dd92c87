//! Who is let in, and how.

use crate::support::{models, open, said, script, start, try_open, upgrade};
use conform_mock_server::journal::{Handshake, Route, Upgrade};
use conform_mock_server::server::{Mismatch, MockServer};
use serde_json::{Value, json};
use tokio::net::TcpStream;

pub(crate) fn upgrades(server: &MockServer) -> Vec<Upgrade> {
    let journal = server.journal().snapshot();
    let upgrade = |exchange: &conform_mock_server::journal::Exchange| match &exchange.route {
        Route::Upgrade(upgrade) => Some(upgrade.clone()),
        _ => None,
    };
    journal.iter().filter_map(upgrade).collect()
}

#[tokio::test]
async fn a_handshake_has_the_scripted_headers() {
    let server = start(
        "turns: [{say: a}]
connections:
  - handshake: {headers: {x-codex-turn-state: A, x-models-etag: '\"1\"', x-request-id: mine}}",
    )
    .await;
    let socket = open(&server).await;
    assert_eq!(socket.headers["x-codex-turn-state"], "A");
    assert_eq!(socket.headers["x-models-etag"], "\"1\"");
    assert_eq!(socket.headers["x-request-id"], "mine");
    assert_eq!(open(&server).await.headers["x-request-id"], "req_c2");
    let accepted =
        |connection| Upgrade { connection, handshake: Handshake::Accepted, extensions: None };
    assert_eq!(upgrades(&server), [accepted(1), accepted(2)]);
}

#[tokio::test]
async fn connections_are_refused_one_by_one_and_http_goes_on() {
    let server = start(
        "turns: [{say: a}]
connections:
  - handshake: {status: 426}
  - handshake: {status: 401, code: invalid_api_key, message: Wrong key., headers: {x-a: b}}
  - handshake: {status: 500}",
    )
    .await;
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(try_open(&server, &[]).await.unwrap_err());
    }
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status().as_u16()).collect();
    assert_eq!(statuses, [426, 401, 500]);
    assert_eq!(answers[1].headers()["x-a"], "b");
    let url = format!("{}/responses", server.base_url());
    let body = json!({"model": "m", "input": "Hello"});
    let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
    assert_eq!(said(&answer.json::<Value>().await.unwrap()), "a");
    let refused = |(connection, status)| Upgrade {
        connection,
        handshake: Handshake::Refused { status },
        extensions: None,
    };
    assert_eq!(upgrades(&server), [(1, 426), (2, 401), (3, 500)].map(refused));
    server.assert_finished();
}

#[tokio::test]
async fn a_refusal_is_an_error_in_the_envelope_of_the_api() {
    let server = start(
        "turns: []
connections: [{handshake: {status: 403, code: no_sockets, message: No.}}]",
    )
    .await;
    let request = upgrade(&server, &[]);
    let mut plain = reqwest::Client::new().get(format!("{}/responses", server.base_url()));
    for (name, value) in request.headers() {
        plain = plain.header(name, value);
    }
    let answer = plain.send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert_eq!(
        answer.json::<Value>().await.unwrap(),
        json!({"error": {
            "message": "No.",
            "type": "invalid_request_error",
            "param": null,
            "code": "no_sockets",
        }})
    );
}

#[tokio::test]
async fn a_handshake_can_hang_until_a_gate_is_open() {
    let server = start(
        "turns: [{say: a}]
connections: [{handshake: {gate: let-in}}, {handshake: {gate: never}}]",
    )
    .await;
    let opened = async { open(&server).await.response(&json!({})).await };
    let open_gate = async {
        server.journal().wait_until(|journal| !journal.is_empty()).await;
        assert_eq!(upgrades(&server)[0].handshake, Handshake::Pending);
        server.gates().open("let-in");
    };
    let (response, ()) = tokio::join!(opened, open_gate);
    assert_eq!(said(&response), "a");

    // A client that gives up is noticed.
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let request = upgrade(&server, &[]);
    let hanging = tokio::spawn(async move {
        let _ = tokio_tungstenite::client_async(request, stream).await;
    });
    server.journal().wait_until(|_| true).await;
    server.journal().wait_until(|journal| journal.len() == 3).await;
    hanging.abort();
    let is_abandoned = |exchange: &conform_mock_server::journal::Exchange| matches!(&exchange.route, Route::Upgrade(upgrade) if upgrade.handshake == Handshake::Abandoned);
    server.journal().wait_until(|journal| journal.iter().any(is_abandoned)).await;
}

#[tokio::test]
async fn a_handshake_that_is_none_is_refused() {
    let server = start("turns: []").await;
    let client = reqwest::Client::new();
    let url = format!("{}/responses", server.base_url());
    let headers: [&[(&str, &str)]; 3] = [
        &[("connection", "upgrade"), ("sec-websocket-version", "13")],
        &[("connection", "upgrade"), ("sec-websocket-key", "a"), ("sec-websocket-version", "8")],
        &[("sec-websocket-key", "a"), ("sec-websocket-version", "13")],
    ];
    for headers in headers {
        let mut request = client.get(&url).header("upgrade", "WebSocket");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 400, "{headers:?}");
    }
    // Without the wish to upgrade it is a plain request of a wrong method.
    assert_eq!(client.get(&url).send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn what_the_script_says_of_connections_must_come_about() {
    let server = start(
        "turns: [{say: a}]
connections:
  - fault: [{ping: {after_event: 1}}, {ping: {response: 2, after_event: 1}}]
  - {}",
    )
    .await;
    open(&server).await.response(&json!({})).await;
    assert_eq!(models(&server).len(), 1);
    assert_eq!(
        server.verify().unwrap_err().mismatches,
        [
            Mismatch::UnusedFault { connection: 1, fault: 2 },
            Mismatch::UnusedConnection { connection: 2 },
        ]
    );
}

#[tokio::test]
async fn a_connection_belongs_to_its_session_and_ends_when_that_starts_afresh() {
    let server = start("turns: [{say: default}]").await;
    let session = server.load_session("one".parse().unwrap(), script("turns: [{say: one}]"));
    let session = session.unwrap();
    let mut socket = try_open(&server, &[("x-conform-session", "one")]).await.unwrap();
    assert_eq!(said(&socket.response(&json!({})).await), "one");
    session.reset();
    assert_eq!(socket.rest().await, []);
    let mut socket = try_open(&server, &[("x-conform-session", "one")]).await.unwrap();
    assert_eq!(said(&socket.response(&json!({})).await), "one");
    assert_eq!(server.journal().len(), 0);
    session.verify().unwrap();
}
