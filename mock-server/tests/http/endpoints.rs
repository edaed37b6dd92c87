//! Everything around the replies: bodies, pages, sinks, errors, the journal's records.

use std::io::Write as _;

use crate::support::{Connection, ask, model, start};
use conform_mock_server::journal::{Outcome, Route};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::json;

const PAGES: &str = "
pages:
  docs/install.html: <p>Hello</p>
  data: {content_type: application/json, body: '{}'}
turns: [{say: one}, {say: two}, {say: three}, {say: four}]";

#[tokio::test]
async fn a_page_is_served_as_it_is_scripted() {
    let server = start(PAGES).await;
    let mut connection = Connection::open(&server).await;

    let page = connection.request("GET", "/page/docs/install.html?v=1", &[], b"").await;
    assert_eq!(page.text(), "<p>Hello</p>");
    assert!(page.head.contains("content-type: text/html; charset=utf-8\r\n"), "{}", page.head);
    let head = connection.request("HEAD", "/page/data", &[], b"").await;
    assert_eq!(
        head.head,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n"
    );
    assert_eq!(connection.request("GET", "/page/other", &[], b"").await.status(), 404);

    let exchanges = server.journal().snapshot();
    let page = |name: &str, found| Route::Page { name: name.to_owned(), found };
    let routes: Vec<_> = exchanges.iter().map(|exchange| exchange.route.clone()).collect();
    assert_eq!(routes, [page("docs/install.html", true), page("data", true), page("other", false)]);
    assert_eq!(exchanges[0].query.as_deref(), Some("v=1"));
    assert_eq!(exchanges[0].path, "/page/docs/install.html");
}

#[tokio::test]
async fn a_page_waits_for_its_gate() {
    let server = start("turns: []\npages: {slow: {body: at last, gate: go}}").await;
    let mut connection = Connection::open(&server).await;
    let fetching = tokio::spawn(async move {
        connection.request("GET", "/page/slow", &[], b"").await.text().to_owned()
    });
    server.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    assert!(!fetching.is_finished());
    server.gates().open("go");
    assert_eq!(fetching.await.unwrap(), "at last");
}

#[tokio::test]
async fn a_sink_keeps_every_byte_of_any_request() {
    let server = start(PAGES).await;
    let mut connection = Connection::open(&server).await;
    let bytes: Vec<u8> = (0..=255).collect();
    for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "REPORT"] {
        assert_eq!(connection.request(method, "/sink/out?q", &[], &bytes).await.status(), 204);
    }
    // Bytes that are not what their header says are kept as they came.
    let odd = [("content-encoding", "gzip")];
    assert_eq!(connection.request("POST", "/sink/out", &odd, &bytes).await.status(), 204);

    let exchanges = server.journal().snapshot();
    assert_eq!(exchanges.len(), 7);
    for exchange in &exchanges {
        assert_eq!(exchange.route, Route::Sink { name: "out".to_owned() });
        assert_eq!(exchange.body, bytes);
    }
}

#[tokio::test]
async fn other_paths_and_methods_are_answered_with_errors_and_recorded() {
    let server = start(PAGES).await;
    let mut connection = Connection::open(&server).await;

    let answer = connection.request("GET", "/v1/nothing?client_version=1", &[], b"").await;
    assert_eq!(answer.status(), 404);
    assert_eq!(
        answer.json(),
        json!({"error": {
            "message": "there is nothing at GET /v1/nothing",
            "type": "invalid_request_error",
            "param": null,
            "code": "unknown_url",
        }})
    );
    for (method, path, allow) in
        [("GET", "/v1/responses", "POST"), ("POST", "/page/data", "GET, HEAD")]
    {
        let answer = connection.request(method, path, &[], b"body").await;
        assert_eq!(answer.status(), 405);
        assert!(answer.head.contains(&format!("allow: {allow}\r\n")), "{}", answer.head);
        assert_eq!(answer.json()["error"]["code"], "method_not_supported");
    }
    let exchanges = server.journal().snapshot();
    assert!(exchanges.iter().all(|exchange| exchange.route == Route::Unknown));
    assert_eq!(exchanges[1].body, "body");
}

#[tokio::test]
async fn encoded_bodies_are_decoded() {
    let server = start(PAGES).await;
    let mut connection = Connection::open(&server).await;
    let body = ask(&json!({})).to_string();

    let zstd = zstd::encode_all(body.as_bytes(), 3).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(body.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(body.as_bytes()).unwrap();
    let deflate = deflate.finish().unwrap();
    let twice = zstd::encode_all(gzip.as_slice(), 3).unwrap();

    for (coding, bytes) in
        [("zstd", zstd), ("GZIP", gzip), ("deflate", deflate), ("gzip, zstd", twice)]
    {
        let headers = [("content-encoding", coding)];
        let answer = connection.request("POST", "/v1/responses", &headers, &bytes).await;
        assert_eq!(answer.status(), 200, "{coding}: {}", answer.text());
    }
    for exchange in server.journal().snapshot() {
        assert_eq!(exchange.body, body);
    }
    server.assert_finished();
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused_and_recorded() {
    let server = start(PAGES).await;
    let mut connection = Connection::open(&server).await;
    let good = ask(&json!({})).to_string();
    let cut = &zstd::encode_all(good.as_bytes(), 3).unwrap()[..20];

    for (coding, bytes, status, param) in [
        ("identity", b"{".as_slice(), 400, json!(null)),
        ("identity", b"[]", 400, json!(null)),
        ("identity", b"\xff", 400, json!(null)),
        ("identity", b"{}", 400, json!("model")),
        ("identity", br#"{"model":1}"#, 400, json!("model")),
        ("identity", br#"{"model":"m","stream":"yes"}"#, 400, json!("stream")),
        ("gzip", good.as_bytes(), 400, json!(null)),
        ("zstd", cut, 400, json!(null)),
        ("br", good.as_bytes(), 415, json!(null)),
    ] {
        let headers = [("content-encoding", coding)];
        let answer = connection.request("POST", "/v1/responses", &headers, bytes).await;
        assert_eq!(answer.status(), status, "{}", answer.text());
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
        assert_eq!(answer.json()["error"]["param"], param);
        let exchange = server.journal().snapshot().pop().unwrap();
        assert_eq!(exchange.body, bytes);
        let reason = match &model(&exchange).outcome {
            Outcome::Malformed { reason } => reason,
            Outcome::Refused(refusal) => &refusal.message,
            _ => panic!("taken: {exchange:?}"),
        };
        assert_eq!(answer.json()["error"]["message"], reason.as_str());
    }
    assert_eq!(server.unused_turns().len(), 4, "no turn was taken");
}

#[tokio::test]
async fn credentials_never_reach_the_journal() {
    let server = start(PAGES).await;
    let headers = [
        ("Authorization", "Bearer secret"),
        ("X-Api-Key", "secret"),
        ("Api-Key", "secret"),
        ("Cookie", "secret"),
        ("Proxy-Authorization", "secret"),
        ("X-Other", "kept"),
    ];
    let body = ask(&json!({})).to_string();
    Connection::open(&server)
        .await
        .request("POST", "/v1/responses", &headers, body.as_bytes())
        .await;
    let exchange = &server.journal().snapshot()[0];
    assert!(!format!("{exchange:?}").contains("secret"));
    let redacted = exchange.headers.iter().filter(|(_, value)| value == "[redacted]").count();
    assert_eq!(redacted, 5);
    assert!(exchange.headers.contains(&("x-other".to_owned(), "kept".to_owned())));
}
