//! Sessions: every request belongs to one, and none takes another's replies.

use crate::support::{ask, script, start};
use conform_mock_server::journal::Route;
use conform_mock_server::server::{MockServer, SessionKey};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

fn key(name: &str) -> SessionKey {
    name.parse().unwrap()
}

fn say(text: &str) -> String {
    format!("turns: [{{say: {text}}}]")
}

/// A server whose default session says `default`, with the sessions `a` and `b`, which say so.
async fn three() -> MockServer {
    let server = start(&say("default")).await;
    for name in ["a", "b"] {
        server.load_session(key(name), script(&say(name))).unwrap();
    }
    server
}

async fn said(request: RequestBuilder) -> String {
    let answer = request.send().await.unwrap().json::<Value>().await.unwrap();
    match &answer["error"]["code"] {
        Value::Null => answer["output"][0]["content"][0]["text"].as_str().unwrap().to_owned(),
        code => code.as_str().unwrap().to_owned(),
    }
}

fn post(url: &str) -> RequestBuilder {
    Client::new().post(url).json(&ask(&json!({"stream": false})))
}

#[tokio::test]
async fn a_request_names_its_session_by_path_header_or_api_key() {
    for name in ["a", "b"] {
        for way in 0..5 {
            let server = three().await;
            let url = format!("{}/responses", server.base_url());
            let request = match way {
                0 => post(&format!("{}/s/{name}/v1/responses", server.url())),
                1 => post(&url).header("x-conform-session", name),
                2 => post(&url).bearer_auth(name),
                3 => post(&url).header("x-api-key", name),
                _ => post(&url).header("api-key", name),
            };
            assert_eq!(said(request).await, name, "way {way}");
            assert!(server.session(&key(name)).unwrap().verify().is_ok());
            assert!(server.journal().is_empty());
            assert_eq!(server.sessions().len(), 3);
        }
    }
}

#[tokio::test]
async fn the_path_comes_before_the_header_and_the_header_before_the_api_key() {
    let server = three().await;
    let url = format!("{}/responses", server.base_url());
    let in_path = format!("{}/s/default/v1/responses", server.url());
    let request = post(&in_path).header("x-conform-session", "a").bearer_auth("b");
    assert_eq!(said(request).await, "default");
    let request = post(&url).header("x-conform-session", "a").bearer_auth("b");
    assert_eq!(said(request).await, "a");
}

#[tokio::test]
async fn an_api_key_of_no_session_belongs_to_the_default_one() {
    let server = three().await;
    let url = format!("{}/responses", server.base_url());
    assert_eq!(said(post(&url).bearer_auth("sk-something-else")).await, "default");
}

#[tokio::test]
async fn a_session_that_does_not_exist_is_an_error_that_leaves_a_trace() {
    let server = three().await;
    let url = format!("{}/responses", server.base_url());
    let in_path = format!("{}/s/nobody/v1/responses", server.url());
    for request in [post(&in_path), post(&url).header("x-conform-session", "nobody")] {
        assert_eq!(said(request).await, "conform_unknown_session");
    }
    let exchanges = server.journal().snapshot();
    let paths: Vec<_> = exchanges.iter().map(|exchange| exchange.path.as_str()).collect();
    assert_eq!(paths, ["/s/nobody/v1/responses", "/v1/responses"]);
    assert!(exchanges.iter().all(|exchange| exchange.route == Route::Unknown));
    assert_eq!(server.unused_turns().len(), 1);
}

#[tokio::test]
async fn pages_and_sinks_belong_to_sessions_too() {
    let server = start("{turns: [], pages: {p: of default}}").await;
    let session = server.load_session(key("a"), script("{turns: [], pages: {p: of a}}")).unwrap();
    let page = |path: &str| format!("{}{path}", server.url());
    let read = async |url: String| reqwest::get(url).await.unwrap().text().await.unwrap();
    assert_eq!(read(page("/page/p")).await, "of default");
    assert_eq!(read(page("/s/a/page/p")).await, "of a");
    Client::new().post(page("/s/a/sink/x?y=1")).body("z").send().await.unwrap();
    let exchange = session.journal().snapshot().pop().unwrap();
    assert_eq!((exchange.path.as_str(), exchange.query.as_deref()), ("/sink/x", Some("y=1")));
    assert_eq!(exchange.route, Route::Sink { name: "x".to_owned() });
}

#[tokio::test]
async fn a_session_gives_the_same_bytes_whatever_the_others_do() {
    let read = async |others_first: bool| {
        let server = three().await;
        let session = server.session(&key("a")).unwrap();
        if others_first {
            post(&format!("{}/responses", server.base_url())).send().await.unwrap();
        }
        let request = Client::new().post(format!("{}/responses", session.base_url()));
        let answer = request.json(&ask(&json!({}))).send().await.unwrap();
        (format!("{:?}", answer.headers()), answer.bytes().await.unwrap())
    };
    assert_eq!(read(false).await, read(true).await);
}

#[tokio::test]
async fn a_session_started_afresh_plays_its_script_again() {
    let server = three().await;
    let session = server.session(&key("a")).unwrap();
    let url = format!("{}/responses", session.base_url());
    assert_eq!(said(post(&url)).await, "a");
    assert_eq!(said(post(&url)).await, "conform_script_mismatch");
    let before = session.journal();
    session.reset();
    assert_eq!((before.len(), session.journal().len()), (2, 0));
    assert_eq!(said(post(&url)).await, "a");
    session.load(script(&say("more"))).unwrap();
    assert_eq!(said(post(&url)).await, "more");
    assert!(session.verify().is_ok());
}

#[tokio::test]
async fn starting_afresh_answers_those_who_wait() {
    let server = start("turns: [{say: a, gate: never}]").await;
    let session = server.session(&SessionKey::default_session()).unwrap();
    let waiting = tokio::spawn(said(post(&format!("{}/responses", server.base_url()))));
    server.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    session.reset();
    assert_eq!(waiting.await.unwrap(), "conform_session_ended");
    // The library's own handle still speaks of what the server started with.
    assert_eq!(server.verify().unwrap_err().mismatches.len(), 1);
    session.gates().open("never");
    assert!(!server.gates().is_open("never"));
    assert_eq!(said(post(&format!("{}/responses", server.base_url()))).await, "a");
    assert!(session.verify().is_ok());
}

#[tokio::test]
async fn a_session_that_is_taken_away_answers_no_more() {
    let server = three().await;
    let session = server.session(&key("a")).unwrap();
    assert!(server.remove_session(&key("a")));
    assert!(!server.remove_session(&key("a")));
    assert!(!server.remove_session(&SessionKey::default_session()));
    let url = format!("{}/responses", session.base_url());
    assert_eq!(said(post(&url)).await, "conform_unknown_session");
}

#[tokio::test]
async fn sessions_side_by_side_never_mix() {
    let server = start("turns: []").await;
    let many = |text: &str| {
        let turns: Vec<String> = (0..20).map(|turn| format!("{{say: {text}-{turn}}}")).collect();
        script(&format!("turns: [{}]", turns.join(", ")))
    };
    let names: Vec<String> = (0..8).map(|number| format!("s{number}")).collect();
    for name in &names {
        server.load_session(key(name), many(name)).unwrap();
    }
    let clients = names.iter().map(|name| {
        let url = format!("{}/s/{name}/v1/responses", server.url());
        let name = name.clone();
        tokio::spawn(async move {
            for turn in 0..20 {
                assert_eq!(said(post(&url)).await, format!("{name}-{turn}"));
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    for name in &names {
        server.session(&key(name)).unwrap().verify().unwrap();
    }
    assert!(server.journal().is_empty());
}
