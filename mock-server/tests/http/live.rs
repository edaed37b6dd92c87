//! The journal as it grows.

use crate::support::{SseEvent, ask, script};
use conform_mock_server::server::{Control, MockServer, SessionKey};
use reqwest::{Client, Response};
use serde_json::{Value, json};

struct Feed {
    response: Response,
    text: String,
}

impl Feed {
    async fn open(server: &MockServer, more: &str, last: Option<&str>) -> Self {
        let url = format!("{}/__conform/sessions/default/journal/live{more}", server.url());
        let mut request = Client::new().get(url);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        Self { response, text: String::new() }
    }

    /// The next event, without its id.
    async fn next(&mut self) -> Option<SseEvent> {
        while !self.text.contains("\n\n") {
            let piece = self.response.chunk().await.unwrap()?;
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
        let end = self.text.find("\n\n").unwrap() + 2;
        let event: String = self.text.drain(..end).collect();
        let field = |name: &str| {
            let line = event.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().to_owned()
        };
        Some(SseEvent { event: field("event: "), data: field("data: ") })
    }

    async fn expect(&mut self, kind: &str) -> Value {
        let event = self.next().await.unwrap();
        assert_eq!(event.event, kind, "{}", event.data);
        event.data()
    }
}

async fn start() -> MockServer {
    MockServer::builder(script("turns: [{say: a, gate: go}]"))
        .control(Control::open())
        .start()
        .await
        .unwrap()
}

async fn sink(server: &MockServer, name: &str) {
    Client::new().post(format!("{}/sink/{name}", server.url())).send().await.unwrap();
}

#[tokio::test]
async fn each_exchange_and_each_change_is_told_as_it_comes() {
    let server = start().await;
    sink(&server, "before").await;
    let mut feed = Feed::open(&server, "", None).await;
    assert_eq!(feed.expect("exchange").await["path"], "/sink/before");

    let url = format!("{}/responses", server.base_url());
    let asking = tokio::spawn(Client::new().post(url).json(&ask(&json!({}))).send());
    let exchange = feed.expect("exchange").await;
    assert_eq!(exchange["route"]["delivery"], "pending");
    server.gates().open("go");
    asking.await.unwrap().unwrap().text().await.unwrap();
    assert_eq!(feed.expect("delivery").await, json!({"number": 2, "delivery": "complete"}));

    server.session(&SessionKey::default_session()).unwrap().reset();
    assert_eq!(feed.expect("ended").await, json!({"session": "default"}));
    assert!(feed.next().await.is_none(), "the feed ends with its session's run");
}

#[tokio::test]
async fn a_feed_goes_on_where_another_left_off() {
    let server = start().await;
    for name in ["one", "two", "three"] {
        sink(&server, name).await;
    }
    let mut feed = Feed::open(&server, "?after=2", None).await;
    assert_eq!(feed.expect("exchange").await["path"], "/sink/three");
    let mut feed = Feed::open(&server, "", Some("1")).await;
    assert_eq!(feed.expect("exchange").await["number"], 2);
    assert_eq!(feed.expect("exchange").await["number"], 3);
}
