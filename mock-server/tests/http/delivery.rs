//! Gates, clients that go away, connections that stay.

use std::net::TcpListener;

use crate::support::{Connection, ask, model, script, start};
use conform_mock_server::gate::Gates;
use conform_mock_server::journal::Delivery;
use conform_mock_server::script::{Reply, Script};
use conform_mock_server::server::{Mismatch, MockServer, StartError};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

fn delivery(server: &MockServer, index: usize) -> Delivery {
    model(&server.journal().snapshot()[index]).delivery
}

const GATED: &str = "turns: [{gate: go, say: Hello}, {say: second}]";

#[tokio::test]
async fn a_reply_waits_for_its_gate() {
    let server = start(GATED).await;
    let mut waiting = Connection::open(&server).await;
    waiting.send("POST", "/responses", &[], ask(&json!({})).to_string().as_bytes()).await;
    server.journal().wait_until(|exchanges| exchanges.len() == 1).await;

    // The first request has its turn already, and another is answered meanwhile.
    let other = Connection::open(&server).await.post(&ask(&json!({}))).await;
    assert_eq!(other.said(), "second");
    assert_eq!(delivery(&server, 0), Delivery::Pending);
    let Err(report) = server.verify() else { panic!("a reply is still waiting") };
    assert_eq!(
        report.to_string(),
        "1 thing does not fit the script:\n- request 1 has not got the end of `turn 1`: the reply \
         still waits or is being written"
    );

    server.gates().open("go");
    assert_eq!(waiting.read("POST").await.said(), "Hello");
    assert_eq!(delivery(&server, 0), Delivery::Complete);
    server.assert_finished();
}

#[tokio::test]
async fn a_gate_that_is_open_from_the_start_holds_nothing_back() {
    let gates = Gates::default();
    gates.open("go");
    let server = MockServer::builder(script(GATED)).gates(gates).start().await.unwrap();
    assert_eq!(Connection::open(&server).await.post(&ask(&json!({}))).await.said(), "Hello");
}

#[tokio::test]
async fn a_client_that_goes_away_while_waiting_abandons_its_reply() {
    let server = start(GATED).await;
    let mut waiting = Connection::open(&server).await;
    waiting.send("POST", "/responses", &[], ask(&json!({})).to_string().as_bytes()).await;
    server.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    drop(waiting);
    server
        .journal()
        .wait_until(|exchanges| model(&exchanges[0]).delivery == Delivery::Abandoned)
        .await;

    // It had taken its turn: the next request gets the next one.
    assert_eq!(Connection::open(&server).await.post(&ask(&json!({}))).await.said(), "second");
    assert_eq!(
        server.verify().unwrap_err().mismatches,
        [Mismatch::Undelivered {
            exchange: 1,
            label: "turn 1".to_owned(),
            delivery: Delivery::Abandoned
        }]
    );
}

#[tokio::test]
async fn a_client_that_goes_away_in_the_middle_abandons_its_reply() {
    // More than the buffers between the two can hold, so the reply cannot be handed over whole.
    let script = Script::of([Reply::say("x".repeat(16 * 1024 * 1024))]);
    let server = MockServer::builder(script).start().await.unwrap();
    let mut connection = Connection::open(&server).await;
    connection.send("POST", "/responses", &[], ask(&json!({})).to_string().as_bytes()).await;
    server.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    drop(connection);
    server
        .journal()
        .wait_until(|exchanges| model(&exchanges[0]).delivery == Delivery::Abandoned)
        .await;
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let replies = (0..20).map(|index| Reply::say(index.to_string()));
    let server = MockServer::builder(Script::of(replies)).start().await.unwrap();
    let mut connection = Connection::open(&server).await;
    for index in 0..20 {
        let stream = index % 2 == 0;
        let answer = connection.post(&ask(&json!({"stream": stream}))).await;
        assert_eq!(answer.said(), index.to_string());
    }
    server.assert_finished();
}

#[tokio::test]
async fn shutdown_closes_the_listener_and_every_connection_and_can_be_repeated() {
    let server = start(GATED).await;
    let mut waiting = Connection::open(&server).await;
    waiting.send("POST", "/responses", &[], ask(&json!({})).to_string().as_bytes()).await;
    server.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    let mut idle = TcpStream::connect(server.address()).await.unwrap();

    tokio::join!(server.shutdown(), server.shutdown());
    server.shutdown().await;

    assert!(TcpStream::connect(server.address()).await.is_err());
    assert!(matches!(idle.read(&mut [0]).await, Ok(0) | Err(_)));
    assert_eq!(delivery(&server, 0), Delivery::Abandoned);
}

#[tokio::test]
async fn dropping_the_server_frees_its_port() {
    let server = start(GATED).await;
    let address = server.address();
    let mut idle = TcpStream::connect(address).await.unwrap();
    drop(server);
    // The connection ends with the task that owns it and the listener.
    assert!(matches!(idle.read(&mut [0]).await, Ok(0) | Err(_)));
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_listener_that_is_bound_already_is_used_as_it_is() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = MockServer::builder(script(GATED)).listener(listener).start().await.unwrap();
    assert_eq!(server.address(), address);
    assert_eq!(server.base_url(), format!("http://{address}/v1"));
    assert_eq!(Connection::open(&server).await.request("GET", "/", &[], b"").await.status(), 404);
}

#[tokio::test]
async fn a_port_that_is_taken_is_a_clear_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = MockServer::builder(script(GATED)).address(address).start().await.unwrap_err();
    assert!(matches!(error, StartError::Taken { .. }));
    assert_eq!(
        error.to_string(),
        format!("{address} is taken by another process; choose another port, or 0 for a free one")
    );
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_an_error_at_the_start() {
    for (name, value) in [("content-length", "1"), ("a b", "c"), ("x", "a\nb")] {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let script = Script::of([Reply { headers, ..Reply::say("Hello") }]);
        let error = MockServer::builder(script).start().await.unwrap_err();
        assert!(matches!(&error, StartError::Header { header, .. } if header == name), "{error}");
    }
}

#[tokio::test]
#[should_panic(expected = "`turn 1` was never asked for")]
async fn an_unfinished_script_fails_a_test() {
    start("turns: [{say: Hello}]").await.assert_finished();
}
