//! The server as a program of its own.

use crate::support::{ask, script};
use conform_mock_server::serve::{ServeError, ServeOptions, serve};
use serde_json::json;

fn options(listen: &str) -> ServeOptions {
    ServeOptions {
        listen: listen.parse().unwrap(),
        ..ServeOptions::of(script("turns: [{say: Hello}, {say: Goodbye}]"))
    }
}

#[tokio::test]
async fn it_says_where_it_is_and_sums_up_at_the_end() {
    let serving = serve(options("127.0.0.1:0")).await.unwrap();
    let ready = serving.ready();
    let line = serde_json::to_value(&ready).unwrap();
    let url = serving.server().url();
    let pid = std::process::id();
    assert_eq!(
        line,
        json!({
            "ready": true,
            "url": url,
            "base_url": format!("{url}/v1"),
            "control_url": format!("{url}/__conform"),
            "pid": pid,
        })
    );

    let summary = serving
        .run_until(async {
            let client = reqwest::Client::new();
            for path in ["/responses", "/models"] {
                let request = client.post(format!("{}{path}", ready.base_url));
                request.json(&ask(&json!({}))).send().await.unwrap().text().await.unwrap();
            }
        })
        .await;
    let [summary] = summary.sessions.as_slice() else { panic!("one session") };
    assert_eq!(summary.key.as_str(), "default");
    assert_eq!((summary.counts.exchanges, summary.counts.served), (2, 1));
    assert_eq!(summary.unused, [(1, "turn 2".to_owned())]);
    let mismatches: Vec<_> = summary.mismatches.iter().map(ToString::to_string).collect();
    assert_eq!(mismatches, ["`turn 2` was never asked for"]);
    assert!(reqwest::get(&ready.url).await.is_err(), "it listens no more");
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_refused() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let error = serve(options(listen)).await.unwrap_err();
        assert!(matches!(error, ServeError::NotLoopback { .. }), "{error}");
        assert!(error.to_string().contains("listen on 127.0.0.1"), "{error}");
    }
}

#[tokio::test]
async fn with_a_token_others_may_reach_it() {
    let token = Some("a-long-secret".parse().unwrap());
    let serving = serve(ServeOptions { token, ..options("0.0.0.0:0") }).await.unwrap();
    let port = serving.server().address().port();
    let sessions = format!("http://127.0.0.1:{port}/__conform/sessions");
    assert_eq!(reqwest::get(&sessions).await.unwrap().status(), 401);
    let client = reqwest::Client::new();
    let answer = client.get(&sessions).bearer_auth("a-long-secret").send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn the_client_is_judged_too() {
    let serving = serve(options("127.0.0.1:0")).await.unwrap();
    let ready = serving.ready();
    let orphan = json!([{"type": "function_call_output", "call_id": "a", "output": "done"}]);
    let post = reqwest::Client::new().post(format!("{}/responses", ready.base_url));
    post.json(&ask(&json!({"input": orphan}))).send().await.unwrap().text().await.unwrap();

    let url = format!("{}/sessions/default/verdict", ready.control_url);
    let verdict = reqwest::get(url).await.unwrap().json::<serde_json::Value>().await.unwrap();
    let expected = json!([{
        "kind": "orphan-results",
        "severity": "must",
        "exchanges": [1],
        "says": "it sent a result for `a`, and no call with that id",
    }]);
    assert_eq!(verdict["client"]["missteps"], expected);
}
