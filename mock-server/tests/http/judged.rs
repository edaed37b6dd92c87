//! The verdict on a client that met real faults.

use conform_mock_server::client_verdict::{Kind, Thresholds, grade};
use conform_mock_server::journal::Delivery;
use serde_json::{Value, json};

use crate::support::{ask, model, start};

#[tokio::test]
async fn a_client_that_does_not_wait_and_takes_half_a_reply_is_found_out() {
    let server = start(
        "turns:
  - say: Hello
    fault: {first: 1, status: {code: 429, retry_after: 50}}
  - say: A rather long answer that does not come to its end.
    fault: {cut: {after_event: 5}}
  - say: Well.",
    )
    .await;
    let url = format!("{}/responses", server.base_url());
    let send = async |items: Value| {
        let request = reqwest::Client::new().post(&url).json(&ask(&json!({"input": items})));
        // A cut reply cannot be read to its end.
        let _ = request.send().await.unwrap().text().await;
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let assistant = |text: &str| json!({"role": "assistant", "content": text});

    send(json!([user("Hi")])).await;
    send(json!([user("Hi")])).await;
    let second = [user("Hi"), assistant("Hello"), user("Go on")];
    send(json!(second)).await;
    let mut third = second.to_vec();
    third.extend([assistant("A rather"), user("And?")]);
    // The journal has the cut once the connection has ended.
    let is_cut = |delivery| delivery == Delivery::Cut;
    server.journal().wait_until(|all| is_cut(model(&all[2]).delivery)).await;
    send(json!(third)).await;

    let exchanges = server.journal().snapshot();
    let answer = model(&exchanges[0]).answer.unwrap();
    assert_eq!((answer.status, answer.retry_after.unwrap().as_secs()), (429, 50));
    let verdict = grade(&exchanges, &Thresholds::default());
    let found: Vec<_> =
        verdict.missteps.iter().map(|one| (one.kind, one.exchanges.as_slice())).collect();
    assert_eq!(
        found,
        [(Kind::RetryAfterIgnored, [1, 2].as_slice()), (Kind::TruncatedStreamAccepted, &[3, 4]),]
    );
}
