//! Warm-ups and continued responses.

use crate::support::{
    create, effective_input, label, models, open, output, said, start, types, user,
};
use conform_mock_server::journal::{Delivery, Effective, Outcome};
use conform_mock_server::wire::Wire;
use serde_json::{Value, json};

const CALL_AND_SAY: &str = "turns:
  - call: {name: f, arguments: {a: 1}}
  - say: Done.
  - say: Again.";

#[tokio::test]
async fn a_warm_up_begins_a_chain_and_takes_no_turn() {
    let server = start(CALL_AND_SAY).await;
    let mut socket = open(&server).await;
    let base = json!({"type": "message", "role": "developer", "content": "Be brief."});

    let warm_up = socket.ask(&json!({"generate": false, "input": [base]})).await;
    assert_eq!(types(&warm_up), ["response.created", "response.completed"]);
    let numbers: Vec<_> = warm_up.iter().map(|event| event["sequence_number"].clone()).collect();
    assert_eq!(numbers, [0, 1]);
    let response = &warm_up[1]["response"];
    assert_eq!((&response["id"], &response["output"]), (&json!("resp_w1n1"), &json!([])));
    assert_eq!(server.unused_turns().len(), 3);

    let first = socket.response(&json!({"previous_response_id": "resp_w1n1"})).await;
    assert_eq!(first["output"][0]["name"], "f");
    let items = json!([output("call_1_1")]);
    let id = first["id"].clone();
    let second = socket.response(&json!({"previous_response_id": id, "input": items})).await;
    assert_eq!(said(&second), "Done.");
    let id = second["id"].clone();
    let third =
        socket.response(&json!({"previous_response_id": id, "input": [user("More")]})).await;
    assert_eq!(said(&third), "Again.");

    let models = models(&server);
    assert!(models.iter().all(|model| model.wire == Wire::ResponsesWs));
    assert!(models.iter().all(|model| model.connection == Some(1)));
    assert_eq!(models[0].outcome, Outcome::WarmUp { response_id: "resp_w1n1".into() });
    let history = [
        base,
        user("Hello"),
        first["output"][0].clone(),
        output("call_1_1"),
        second["output"][0].clone(),
        user("More"),
    ];
    for (model, length) in models.iter().zip([1, 2, 4, 6]) {
        assert_eq!(effective_input(model), history[..length]);
        let effective = model.effective().unwrap();
        for gone in ["type", "previous_response_id", "generate", "stream_id"] {
            assert_eq!(effective.get(gone), None);
        }
        assert_eq!(effective["tools"].as_array().unwrap().len(), 2);
    }
    server.assert_finished();
}

#[tokio::test]
async fn a_full_request_begins_anew_on_the_same_connection() {
    let server = start(CALL_AND_SAY).await;
    let mut socket = open(&server).await;
    socket.response(&json!({})).await;
    let second = socket.response(&json!({"input": "Only this"})).await;
    assert_eq!(said(&second), "Done.");
    let last = models(&server).pop().unwrap();
    assert_eq!(last.effective().unwrap()["input"], "Only this");
}

#[tokio::test]
async fn only_the_newest_response_of_a_stream_can_be_continued() {
    let server = start("turns: [{say: a}, {say: b}, {say: c}, {say: d}]").await;
    let mut socket = open(&server).await;
    socket.response(&json!({"stream_id": "left"})).await;
    socket.response(&json!({"stream_id": "right"})).await;
    let continued = json!({"previous_response_id": "resp_1", "stream_id": "left"});
    assert_eq!(said(&socket.response(&continued).await), "c");
    let error = socket.error(&continued).await;
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    let right = json!({"previous_response_id": "resp_2", "stream_id": "right"});
    assert_eq!(said(&socket.response(&right).await), "d");
}

#[tokio::test]
async fn what_is_not_stored_is_lost_with_its_connection() {
    let server = start(CALL_AND_SAY).await;
    let mut first = open(&server).await;
    first.response(&json!({})).await;
    drop(first);

    let mut second = open(&server).await;
    let error = second.error(&json!({"previous_response_id": "resp_1"})).await;
    assert_eq!(
        error,
        json!({
            "type": "error",
            "status": 400,
            "error": {
                "type": "invalid_request_error",
                "code": "previous_response_not_found",
                "message": "Previous response with id 'resp_1' not found.",
                "param": "previous_response_id",
            }
        })
    );
    // The same connection takes the whole history then.
    assert_eq!(said(&second.response(&json!({})).await), "Done.");
    let models = models(&server);
    assert_eq!(models[1].outcome, Outcome::PreviousNotFound { previous: "resp_1".into() });
    assert_eq!((models[1].effective(), models[1].delivery), (None, Delivery::Complete));
    assert_eq!(models[2].connection, Some(2));
}

#[tokio::test]
async fn what_is_stored_can_be_continued_on_another_connection_and_over_http() {
    let server = start("turns: [{say: a}, {say: b}, {say: c}]").await;
    let a = open(&server).await.response(&json!({"store": true})).await;
    let continued = json!({"previous_response_id": a["id"], "input": "More", "store": true});
    let b = open(&server).await.response(&continued).await;

    let body = json!({"model": "m", "previous_response_id": b["id"], "input": "Still more"});
    let url = format!("{}/responses", server.base_url());
    let answer: Value =
        reqwest::Client::new().post(url).json(&body).send().await.unwrap().json().await.unwrap();
    assert_eq!(said(&answer), "c");

    let last = models(&server).pop().unwrap();
    assert_eq!((last.wire, last.connection), (Wire::Responses, None));
    let history = [
        user("Hello"),
        a["output"][0].clone(),
        user("More"),
        b["output"][0].clone(),
        user("Still more"),
    ];
    assert_eq!(effective_input(&last), history);
    assert_eq!(last.effective().unwrap().get("previous_response_id"), None);
}

#[tokio::test]
async fn over_http_an_unknown_response_has_no_effective_body() {
    let server = start("turns: [{say: a}]\nvalidation: {off: [R29]}").await;
    let body = json!({"model": "m", "previous_response_id": "resp_9", "input": "More"});
    let url = format!("{}/responses", server.base_url());
    let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(models(&server)[0].effective, Effective::Unknown);
}

#[tokio::test]
async fn a_failed_continuation_cannot_be_tried_again() {
    let server = start(CALL_AND_SAY).await;
    let mut socket = open(&server).await;
    socket.response(&json!({})).await;
    let orphan = json!({"previous_response_id": "resp_1", "input": [output("call_9")]});
    let error = socket.error(&orphan).await;
    assert_eq!((&error["status"], &error["error"]["param"]), (&json!(400), &json!("input")));

    let right = json!({"previous_response_id": "resp_1", "input": [output("call_1_1")]});
    let error = socket.error(&right).await;
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    assert_eq!(said(&socket.response(&json!({})).await), "Done.");
    assert!(matches!(models(&server)[1].outcome, Outcome::Malformed { .. }));
}

#[tokio::test]
async fn a_continuation_that_the_script_refuses_is_a_failed_one() {
    let server = start(
        "turns:
  - say: a
  - name: guarded
    request: [{body_contains: password}]
    say: b",
    )
    .await;
    let mut socket = open(&server).await;
    socket.response(&json!({})).await;
    let continued = json!({"previous_response_id": "resp_1", "input": "More"});
    let error = socket.error(&continued).await;
    assert_eq!(error["error"]["code"], "conform_script_mismatch");
    let error = socket.error(&continued).await;
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    assert_eq!(server.unused_turns(), [(1, "guarded".to_owned())]);
}

#[tokio::test]
async fn conditions_see_the_whole_history_and_what_was_sent() {
    let server = start(
        "purposes:
  - {name: side, all: [{header: x-kind, contains: side}]}
turns:
  - say: a
  - name: second
    request:
      - {pointer: /input/0/content, equals: Hello}
      - {pointer: /input/1/role, equals: assistant}
      - {pointer: /previous_response_id, equals: resp_1}
      - {body_contains: Hello}
    say: b",
    )
    .await;
    let mut socket = open(&server).await;
    socket.response(&json!({})).await;
    let second = socket.response(&json!({"previous_response_id": "resp_1", "input": "More"})).await;
    assert_eq!(said(&second), "b");
    assert_eq!(label(&models(&server)[1]), "second");

    // A purpose's headers are those of the upgrade request.
    let mut side = crate::support::try_open(&server, &[("x-kind", "side")]).await.unwrap();
    assert_eq!(said(&side.response(&json!({})).await), "Done.");
    assert_eq!(models(&server)[2].purpose.as_str(), "side");
    server.assert_finished();
}

#[tokio::test]
async fn requests_are_answered_one_at_a_time_in_their_order() {
    let server = start(
        "turns:
  - {say: a, gate: first}
  - say: b",
    )
    .await;
    let mut socket = open(&server).await;
    socket.send(&create(&json!({"stream_id": "x"}))).await;
    socket.send(&create(&json!({"stream_id": "y"}))).await;
    server.journal().wait_until(|journal| journal.len() >= 2).await;
    assert_eq!(models(&server).len(), 1, "the second waits for the end of the first");
    server.gates().open("first");
    for (stream, text) in [("x", "a"), ("y", "b")] {
        let events = socket.events().await;
        assert!(events.iter().all(|event| event["stream_id"] == stream));
        assert_eq!(said(&events.last().unwrap()["response"]), text);
    }
}
