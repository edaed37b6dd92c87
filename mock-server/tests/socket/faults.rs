//! What goes wrong on a connection.

use crate::support::{create, label, models, open, said, start, types};
use conform_mock_server::journal::{Delivery, Outcome};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

fn frames(messages: &[Message]) -> usize {
    messages.iter().filter(|message| message.is_text()).count()
}

#[tokio::test]
async fn a_connection_can_be_closed_at_any_event_and_the_turn_is_given_again() {
    for after_event in [0, 1, 3, 6] {
        let server = start(&format!(
            "turns: [{{call: {{name: f, arguments: {{a: 1}}}}}}, {{say: b}}]
connections:
  - fault: {{close: {{after_event: {after_event}, code: 1011, reason: restart}}}}"
        ))
        .await;
        let mut socket = open(&server).await;
        socket.send(&create(&json!({}))).await;
        let rest = socket.rest().await;
        assert_eq!(frames(&rest), after_event);
        let Some(Message::Close(Some(frame))) = rest.last() else { panic!("{rest:?}") };
        assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1011, "restart"));

        let again = open(&server).await.response(&json!({})).await;
        // New ids: a client may have seen the first ones.
        assert_eq!(
            (&again["id"], &again["output"][0]["call_id"]),
            (&json!("resp_1r1"), &json!("call_1r1_1"))
        );
        let models = models(&server);
        assert_eq!(models.iter().map(label).collect::<Vec<_>>(), ["turn 1"; 2]);
        assert_eq!(models[0].delivery, Delivery::Cut);
        assert_eq!(server.unused_turns(), [(1, "turn 2".to_owned())]);
    }
}

#[tokio::test]
async fn a_connection_that_ends_after_the_last_event_has_delivered_its_reply() {
    for how in ["close: {after_event: 7, code: 1000}", "drop: {after_event: 7}"] {
        let server = start(&format!(
            "turns: [{{call: {{name: f, arguments: {{a: 1}}}}}}]
connections: [{{fault: {{{how}}}}}]"
        ))
        .await;
        let mut socket = open(&server).await;
        socket.send(&create(&json!({"store": true}))).await;
        assert_eq!(frames(&socket.rest().await), 7);
        assert_eq!(models(&server)[0].delivery, Delivery::Complete);
        server.assert_finished();
        // What was stored is there although its connection is not.
        let error = open(&server).await.error(&json!({"previous_response_id": "resp_1"})).await;
        assert_eq!(error["error"]["code"], "conform_script_mismatch");
    }
}

#[tokio::test]
async fn every_code_that_a_close_frame_may_carry_is_sent() {
    for code in [1000, 1001, 1008, 1009, 1011, 1012, 1013, 3000, 4999] {
        let server = start(&format!(
            "turns: [{{say: a}}]
connections: [{{fault: {{close: {{after_event: 0, code: {code}}}}}}}]"
        ))
        .await;
        let mut socket = open(&server).await;
        socket.send(&create(&json!({}))).await;
        let rest = socket.rest().await;
        let [Message::Close(Some(frame))] = rest.as_slice() else { panic!("{rest:?}") };
        assert_eq!((u16::from(frame.code), frame.reason.as_str()), (code, ""));
    }
}

#[tokio::test]
async fn a_connection_can_be_dropped_without_a_close_frame() {
    let server = start(
        "turns: [{say: a}]
connections: [{fault: {drop: {after_event: 2}}}]",
    )
    .await;
    let mut socket = open(&server).await;
    socket.send(&create(&json!({}))).await;
    let rest = socket.rest().await;
    assert!(rest.iter().all(Message::is_text), "{rest:?}");
    assert_eq!(rest.len(), 2);
    assert_eq!(said(&open(&server).await.response(&json!({})).await), "a");
    server.assert_finished();
}

#[tokio::test]
async fn a_fault_belongs_to_one_response_of_its_connection() {
    let server = start(
        "turns: [{say: a}, {say: b}]
connections: [{fault: {drop: {response: 2, after_event: 0}}}]",
    )
    .await;
    let mut socket = open(&server).await;
    socket.ask(&json!({"generate": false})).await;
    assert_eq!(said(&socket.response(&json!({})).await), "a");
    socket.send(&create(&json!({}))).await;
    assert_eq!(socket.rest().await, []);
    assert_eq!(said(&open(&server).await.response(&json!({})).await), "b");
    server.assert_finished();
}

#[tokio::test]
async fn a_warm_up_can_fail() {
    let server = start(
        "turns: [{say: a}]
connections: [{fault: {close: {response: warm-up, after_event: 1, code: 1012}}}]",
    )
    .await;
    let mut socket = open(&server).await;
    socket.send(&create(&json!({"generate": false}))).await;
    let rest = socket.rest().await;
    assert_eq!((frames(&rest), rest.len()), (1, 2));
    assert_eq!(models(&server)[0].delivery, Delivery::Cut);
    assert_eq!(said(&open(&server).await.response(&json!({})).await), "a");
    server.assert_finished();
}

#[tokio::test]
async fn an_error_frame_ends_a_response_and_evicts_what_it_continued() {
    let server = start(
        "turns: [{say: a}, {say: b}]
connections:
  - fault:
      error:
        {response: 2, after_event: 1, status: 429, type: tokens, code: rate_limit_exceeded,
         message: Slow down., headers: {retry-after: '1'}}",
    )
    .await;
    let mut socket = open(&server).await;
    socket.response(&json!({})).await;
    let continued = json!({"previous_response_id": "resp_1", "stream_id": "s"});
    let events = socket.ask(&continued).await;
    assert_eq!(types(&events), ["response.created", "error"]);
    assert_eq!(
        events[1],
        json!({
            "type": "error",
            "status": 429,
            "error": {"type": "tokens", "message": "Slow down.", "code": "rate_limit_exceeded"},
            "headers": {"retry-after": "1"},
            "stream_id": "s",
        })
    );
    let error = socket.error(&continued).await;
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    assert_eq!(said(&socket.response(&json!({})).await), "b");
    server.assert_finished();
}

#[tokio::test]
async fn an_error_frame_may_lack_its_status() {
    let server = start(
        "turns: [{say: a}]
connections: [{fault: {error: {after_event: 0, message: Ignored by some.}}}]",
    )
    .await;
    let error = open(&server).await.error(&json!({})).await;
    assert_eq!(
        error,
        json!({
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "Ignored by some."},
        })
    );
}

#[tokio::test]
async fn an_event_can_go_out_in_a_binary_frame() {
    let server = start(
        "turns: [{say: a}, {say: b}]
connections:
  - fault:
      - binary: {after_event: 1}
      - binary: {response: 2, after_event: 1, stop: true}",
    )
    .await;
    let mut socket = open(&server).await;
    socket.send(&create(&json!({}))).await;
    assert_eq!(socket.event().await["type"], "response.created");
    let Some(Message::Binary(bytes)) = socket.next().await else { panic!("not binary") };
    let event: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(event["type"], "response.in_progress");
    assert_eq!(socket.events().await.last().unwrap()["type"], "response.completed");

    socket.send(&create(&json!({}))).await;
    socket.event().await;
    assert!(matches!(socket.next().await, Some(Message::Binary(_))));
    // It ended there: what comes next answers the next request, with the turn given again.
    assert_eq!(said(&socket.response(&json!({})).await), "b");
    server.assert_finished();
}

#[tokio::test]
async fn any_text_and_pings_can_go_between_the_events() {
    let server = start(
        "turns: [{say: a}]
connections:
  - fault:
      - send: {after_event: 1, text: '{broken'}
      - ping: {after_event: 1}
      - hold: {after_event: 2, gate: half-way}",
    )
    .await;
    let mut socket = open(&server).await;
    socket.send(&create(&json!({}))).await;
    socket.event().await;
    assert_eq!(socket.next().await, Some(Message::text("{broken")));
    assert!(matches!(socket.next().await, Some(Message::Ping(_))));
    assert_eq!(socket.event().await["type"], "response.in_progress");
    assert_eq!(models(&server)[0].delivery, Delivery::Pending);
    server.gates().open("half-way");
    socket.events().await;
    server.assert_finished();
}

#[tokio::test]
async fn a_client_that_leaves_abandons_its_reply() {
    let server = start(
        "turns: [{say: a}]
connections: [{fault: {hold: {after_event: 2, gate: never}}}]",
    )
    .await;
    let mut socket = open(&server).await;
    socket.send(&create(&json!({}))).await;
    socket.event().await;
    drop(socket);
    let is_abandoned = |journal: &[conform_mock_server::journal::Exchange]| {
        journal.iter().any(|exchange| {
            matches!(&exchange.route, conform_mock_server::journal::Route::Model(model) if model.delivery == Delivery::Abandoned)
        })
    };
    server.journal().wait_until(is_abandoned).await;
    assert!(matches!(models(&server)[0].outcome, Outcome::Served(_)));
    assert!(server.verify().is_err());
}

#[tokio::test]
async fn a_fault_of_a_turn_is_not_passed_over_in_silence() {
    for fault in ["{status: 429}", "{cut: {after_event: 2}}"] {
        let server = start(&format!("turns: [{{say: a, fault: {fault}}}]")).await;
        let error = open(&server).await.error(&json!({})).await;
        assert_eq!(error["error"]["code"], "conform_script_mismatch");
        let [model] = models(&server).try_into().expect("one request");
        assert!(matches!(&model.outcome, Outcome::Unfit { turn, reason }
            if turn == "turn 1" && reason.contains("WebSocket")));
        assert_eq!((model.delivery, model.applied), (Delivery::Complete, None));
        assert_eq!(server.journal().counts().refused, 1);
        assert!(server.verify().is_err());
    }
}

#[tokio::test]
async fn a_reply_that_the_wire_cannot_carry_is_not_given() {
    let server = start("turns: [{say: a, ending: {stop_sequence: END}}]").await;
    let error = open(&server).await.error(&json!({})).await;
    assert_eq!(error["error"]["code"], "conform_script_mismatch");
    assert!(matches!(models(&server)[0].outcome, Outcome::Unfit { .. }));
    assert!(server.verify().is_err());
}
