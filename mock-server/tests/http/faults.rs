//! Faults that stop, delay or replace an answer, on every wire.

use std::time::Duration;

use crate::raw::{End, Got, PATHS, post, read_until, send};
use crate::sse;
use crate::support::{ask, model, start};
use conform_mock_server::journal::{Delivery, Outcome};
use conform_mock_server::server::{Mismatch, MockServer};
use serde_json::{Value, json};

/// A server with one turn, which has this fault.
async fn faulty(fault: &str) -> MockServer {
    start(&format!("turns: [{{say: {TEXT}, fault: {fault}}}]")).await
}

/// Long enough for three pieces.
const TEXT: &str = "One piece and the second one and then the third piece of all";

/// What the only turn gives with a fault, and without.
async fn pair(path: &str, fault: &str) -> (Got, Got, MockServer) {
    let server = faulty(fault).await;
    let got = post(&server, path, &ask(&json!({}))).await;
    let faultless = start(&format!("turns: [{{say: {TEXT}}}]")).await;
    (got, post(&faultless, path, &ask(&json!({}))).await, server)
}

fn delivery(server: &MockServer, index: usize) -> Delivery {
    model(&server.journal().snapshot()[index]).delivery
}

#[tokio::test]
async fn a_cut_after_an_event_lets_all_before_it_through() {
    for path in PATHS {
        for (how, end) in [("close", End::Closed), ("reset", End::Reset), ("end", End::Whole)] {
            let fault = format!("{{cut: {{after_event: 4, how: {how}}}}}");
            let (got, faultless, server) = pair(path, &fault).await;
            assert_eq!(got.end, end, "{path} {how}");
            assert_eq!(got.chunks, faultless.chunks[..4], "{path} {how}");
            assert_eq!(got.head, faultless.head);
            assert_eq!(delivery(&server, 0), Delivery::Cut);
            let exchanges = server.journal().snapshot();
            let applied = model(&exchanges[0]).applied.as_ref().unwrap();
            assert_eq!(applied.attempt, 1);
            assert!(applied.fault.cut.is_some());
            server.assert_finished();
        }
    }
}

#[tokio::test]
async fn a_cut_can_be_anywhere() {
    for path in PATHS {
        let (got, faultless, _) = pair(path, "{cut: {after_byte: 100}}").await;
        assert_eq!((got.body().as_slice(), got.end), (&faultless.body()[..100], End::Closed));
        let (got, ..) = pair(path, "{cut: {after_event: 0}}").await;
        assert_eq!((got.status(), got.body().len(), got.end), (200, 0, End::Closed));
        let (got, faultless, _) = pair(path, "{cut: {before_event: -1, how: end}}").await;
        assert_eq!(got.chunks, faultless.chunks[..faultless.chunks.len() - 1]);
        for (how, end) in [("close", End::Closed), ("reset", End::Reset)] {
            let (got, _, server) = pair(path, &format!("{{cut: {{how: {how}}}}}")).await;
            assert_eq!((got.bytes.len(), got.end), (0, end));
            assert_eq!(delivery(&server, 0), Delivery::Cut);
        }
        // All of the reply, but not the end of the HTTP body.
        let (got, faultless, _) = pair(path, "{cut: {after_event: -1}}").await;
        assert_eq!((got.chunks, got.end), (faultless.chunks, End::Closed));
    }
}

#[tokio::test]
async fn a_whole_object_can_be_cut_and_malformed() {
    for path in PATHS {
        let whole = ask(&json!({"stream": false}));
        let faultless = start(&format!("turns: [{{say: {TEXT}}}]")).await;
        let faultless = post(&faultless, path, &whole).await;

        let server = faulty("{cut: {after_byte: 50}}").await;
        let got = post(&server, path, &whole).await;
        assert_eq!((got.body().as_slice(), got.end), (&faultless.body()[..50], End::Closed));
        assert_eq!(got.head, faultless.head, "the length is that of the whole");

        let server = faulty("{malformed: 1}").await;
        let got = post(&server, path, &whole).await;
        assert_eq!(got.end, End::Whole);
        assert!(serde_json::from_slice::<Value>(&got.body()).is_err());

        let server = faulty("{split: {every: 7}}").await;
        let got = post(&server, path, &whole).await;
        assert_eq!((got.body(), got.end), (faultless.body(), End::Whole));
    }
}

#[tokio::test]
async fn a_stall_lasts_until_its_gate_opens() {
    // The event that brings the first piece of the text.
    for (path, event) in PATHS.into_iter().zip([5, 2, 4]) {
        let server = faulty(&format!("{{stall: {{after_event: {event}, until: go}}}}")).await;
        let mut stream = send(&server, path, &ask(&json!({}))).await;
        let first = read_until(&mut stream, "One piece").await;
        assert!(!first.contains("third"), "{first}");
        assert_eq!(delivery(&server, 0), Delivery::Pending);
        server.gates().open("go");
        read_until(&mut stream, "\r\n0\r\n\r\n").await;
        assert_eq!(delivery(&server, 0), Delivery::Complete);
        server.assert_finished();
    }
}

#[tokio::test]
async fn a_stall_without_a_gate_lasts_until_the_client_leaves() {
    for path in PATHS {
        let server = faulty("{stall: {before_event: -1}}").await;
        let mut stream = send(&server, path, &ask(&json!({}))).await;
        read_until(&mut stream, "third").await;
        assert_eq!(delivery(&server, 0), Delivery::Pending);
        assert!(server.verify().is_err());
        drop(stream);
        server
            .journal()
            .wait_until(|exchanges| model(&exchanges[0]).delivery == Delivery::Abandoned)
            .await;
        server.assert_finished();
    }
}

#[tokio::test]
async fn a_gate_can_hold_a_reply_at_several_places() {
    let server = faulty("{wait: [{gate: head}, {before_event: 3, gate: body}]}").await;
    let mut stream = send(&server, PATHS[2], &ask(&json!({}))).await;
    server.journal().wait_until(|exchanges| exchanges.len() == 1).await;
    let mut byte = [0];
    assert!(stream.try_read(&mut byte).is_err(), "no byte comes before the first gate");
    server.gates().open("head");
    assert!(!read_until(&mut stream, "content_block_start").await.contains("delta"));
    server.gates().open("body");
    read_until(&mut stream, "message_stop").await;
}

#[tokio::test(start_paused = true)]
async fn waits_add_up_on_the_clock() {
    for path in PATHS {
        for (fault, ms) in [
            ("{delay: 400}", 400),
            ("{delay: [100, {before_event: 2, ms: 50}, {after_event: -1, ms: 25}]}", 175),
            ("{insert: {before_event: 3, comment: ' wait', times: 4, every_ms: 1000}}", 4000),
            ("{status: 500, delay: 700}", 700),
        ] {
            let server = faulty(fault).await;
            let before = tokio::time::Instant::now();
            let got = post(&server, path, &ask(&json!({}))).await;
            assert_eq!(got.end, End::Whole);
            assert_eq!(before.elapsed(), Duration::from_millis(ms), "{path} {fault}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pace_slows_every_event_or_byte() {
    for path in PATHS {
        let before = tokio::time::Instant::now();
        let (got, faultless, _) = pair(path, "{pace: {event_ms: 1000}}").await;
        assert_eq!(got.chunks, faultless.chunks);
        let pauses = faultless.chunks.len() as u64 - 1;
        assert_eq!(before.elapsed(), Duration::from_secs(pauses));

        let before = tokio::time::Instant::now();
        let (got, faultless, _) = pair(path, "{pace: {byte_ms: 1}}").await;
        assert_eq!(got.body(), faultless.body());
        assert!(got.chunks.iter().all(|chunk| chunk.len() == 1));
        let pauses = faultless.body().len() as u64 - 1;
        assert_eq!(before.elapsed(), Duration::from_millis(pauses));
    }
}

#[tokio::test]
async fn an_error_comes_so_often_and_then_the_reply() {
    for path in PATHS {
        let server = start(
            "turns: [{say: Hello, fault: {first: 2, status: {code: 429, retry_after: 1, \
             retry_after_ms: 250, headers: {x-ratelimit-remaining-requests: '0'}}}}, {say: Next}]",
        )
        .await;
        for attempt in 1..=2 {
            let got = post(&server, path, &ask(&json!({}))).await;
            assert_eq!(got.status(), 429);
            assert_eq!(got.header("retry-after"), Some("1"));
            assert_eq!(got.header("retry-after-ms"), Some("250"));
            assert_eq!(got.header("x-ratelimit-remaining-requests"), Some("0"));
            assert_eq!(got.json()["error"]["type"], "rate_limit_error");
            let exchange = server.journal().snapshot().pop().unwrap();
            let model = model(&exchange);
            assert_eq!(model.outcome, Outcome::Faulted { turn: "turn 1".to_owned() });
            assert_eq!(model.applied.as_ref().unwrap().attempt, attempt);
            assert_eq!(model.delivery, Delivery::Complete);
        }
        let spoilt = Mismatch::NotAskedAgain { turn: 0, label: "turn 1".to_owned(), attempts: 2 };
        assert_eq!(server.verify().unwrap_err().mismatches[0], spoilt);
        let got = post(&server, path, &ask(&json!({}))).await;
        assert!(got.text().contains("Hello"), "{}", got.text());
        assert!(got.text().contains("1r2"), "each attempt has ids of its own");
        assert_eq!(model(&server.journal().snapshot()[2]).applied, None);
        assert!(post(&server, path, &ask(&json!({}))).await.text().contains("Next"));
        server.assert_finished();
    }
}

#[tokio::test]
async fn errors_have_the_usual_body_of_their_api_or_any_other() {
    for (path, status, kind, code) in [
        (PATHS[0], 401, "invalid_request_error", json!("invalid_api_key")),
        (PATHS[1], 503, "server_error", json!("server_is_overloaded")),
        (PATHS[1], 400, "invalid_request_error", Value::Null),
        (PATHS[2], 529, "overloaded_error", Value::Null),
        (PATHS[2], 401, "authentication_error", Value::Null),
    ] {
        let server = faulty(&format!("{{status: {status}}}")).await;
        let got = post(&server, path, &ask(&json!({}))).await;
        assert_eq!(got.status(), status);
        assert_eq!(got.json()["error"]["type"], kind);
        assert_eq!(got.json()["error"]["code"], code);
        // Without attempts it was the turn's answer.
        server.assert_finished();
        let next = post(&server, path, &ask(&json!({}))).await;
        assert!(next.text().contains("conform_script_mismatch"), "{}", next.text());
    }
    let server = faulty("{status: {code: 400, json: {detail: no}}}").await;
    assert_eq!(post(&server, PATHS[0], &ask(&json!({}))).await.json(), json!({"detail": "no"}));
    let server = faulty("{status: {code: 502, text: <html>}}").await;
    let got = post(&server, PATHS[0], &ask(&json!({}))).await;
    assert_eq!(got.text(), "<html>");
    assert_eq!(got.header("content-type"), Some("text/plain; charset=utf-8"));
    let error = "{status: {code: 400, error: {type: t, code: c, message: m, param: p}}}";
    let got = post(&faulty(error).await, PATHS[0], &ask(&json!({}))).await;
    let expected = json!({"error": {"message": "m", "type": "t", "param": "p", "code": "c"}});
    assert_eq!(got.json(), expected);
}

#[tokio::test]
async fn rules_for_other_attempts_do_not_apply() {
    for path in PATHS {
        let server =
            faulty("[{attempts: [2], status: 500}, {attempts: [1, 2], cut: {after_event: 1}}]")
                .await;
        assert_eq!(post(&server, path, &ask(&json!({}))).await.end, End::Closed);
        assert_eq!(post(&server, path, &ask(&json!({}))).await.status(), 500);
        let whole = post(&server, path, &ask(&json!({}))).await;
        assert_eq!((whole.status(), whole.end), (200, End::Whole));
        server.assert_finished();
    }
}

#[tokio::test]
async fn a_repeated_turn_counts_its_attempts_on() {
    let server = start(
        "when_exhausted: repeat-last\nturns: [{say: Hello, fault: {attempts: [2], status: 500}}]",
    )
    .await;
    let mut seen = Vec::new();
    for _ in 0..4 {
        let got = post(&server, PATHS[0], &ask(&json!({"stream": false}))).await;
        let id = (got.status() == 200).then(|| got.json()["id"].as_str().unwrap().to_owned());
        seen.push(id);
    }
    let ids: Vec<_> = seen.iter().map(Option::as_deref).collect();
    assert_eq!(ids, [Some("resp_1"), None, Some("resp_1r2"), Some("resp_1r3")]);
}

#[tokio::test]
async fn the_head_and_the_form_can_be_wrong() {
    for path in PATHS {
        let (got, faultless, _) = pair(path, "{content_type: text/html}").await;
        assert_eq!(got.header("content-type"), Some("text/html"));
        assert_eq!(got.chunks, faultless.chunks);
        let (got, ..) = pair(path, "{form: object}").await;
        assert_eq!(got.header("content-type"), Some("application/json"));
        assert!(got.json().is_object());
        let server = faulty("{form: stream}").await;
        let got = post(&server, path, &ask(&json!({"stream": false}))).await;
        assert_eq!(got.header("content-type"), Some("text/event-stream; charset=utf-8"));
        assert!(sse::parse(&got.body()).1);
    }
}

#[tokio::test]
async fn a_fault_that_cannot_happen_is_refused_and_told() {
    let stream = json!({});
    let whole = json!({"stream": false});
    for (path, body, fault, reason) in [
        (PATHS[0], &stream, "{drop: 99}", "there is no event 99: the reply has 11 events"),
        (
            PATHS[0],
            &stream,
            "{cut: {after_event: response.queued}}",
            "the reply has no event `response.queued`",
        ),
        (PATHS[0], &stream, "{cut: {after_byte: 100000}}", "there is no byte 100000"),
        (
            PATHS[0],
            &stream,
            "{cut: {after_event: -1, how: end}}",
            "nothing of the reply is left to cut off",
        ),
        (
            PATHS[0],
            &stream,
            "{drop: 3, delay: {before_event: 3, ms: 1}}",
            "event 3 is left out by the fault itself",
        ),
        (PATHS[0], &stream, "{terminator: none}", "the stream has no `[DONE]` to leave out"),
        (PATHS[1], &stream, "{terminator: done}", "the stream ends with `[DONE]` as it is"),
        (PATHS[1], &stream, "{event_line: last}", "the events of this wire have no event lines"),
        (
            PATHS[2],
            &stream,
            "{skip_numbers: {from: 1}}",
            "the events of this wire have no sequence numbers",
        ),
        (
            PATHS[2],
            &stream,
            "{same_call_ids: true}",
            "`same_call_ids` needs a reply with two calls",
        ),
        (PATHS[2], &stream, "{cut_arguments: 1}", "no call has more than 1 characters to cut"),
        (PATHS[0], &stream, "{split: {at: [1, 100000]}}", "there is no byte after byte 100000"),
        (
            PATHS[0],
            &whole,
            "{line_ending: crlf}",
            "the fault is about events, but the reply is one object",
        ),
        (PATHS[1], &whole, "{drop: 1}", "the fault is about events, but the reply is one object"),
        (PATHS[2], &whole, "{cut: {after_event: 2}}", "there is no event 2: the reply has 1 event"),
    ] {
        let server = faulty(fault).await;
        let got = post(&server, path, &ask(body)).await;
        assert_eq!(got.status(), 400, "{fault}");
        assert!(got.text().contains(reason), "{}", got.text());
        let Outcome::Unfit { turn, reason: journaled } =
            model(&server.journal().snapshot()[0]).outcome.clone()
        else {
            panic!("{fault} is told in the journal")
        };
        assert_eq!(turn, "turn 1");
        assert!(journaled.contains(reason), "{journaled}");
        assert!(matches!(server.verify().unwrap_err().mismatches[0], Mismatch::Unfit { .. }));
    }
}

#[tokio::test]
async fn the_same_script_and_requests_give_the_same_bytes() {
    async fn run() -> Vec<Got> {
        let server = start(
            "turns:
  - say: Hello, and a little more than that
    fault:
      - {attempts: [1], status: {code: 500, text: broken}}
      - {attempts: [2], cut: {after_byte: 200, how: close}}
      - {attempts: [3], split: {every: 5}, insert: {comment: ' c'}, line_ending: crlf}
  - calls: [{name: f, arguments: {a: 1}, offered: false}, {name: g, input: x, offered: false}]
    fault: {same_call_ids: true, cut_arguments: 0, repeat: 2, swap: [3, 4]}",
        )
        .await;
        let mut all = Vec::new();
        for path in [PATHS[0], PATHS[1], PATHS[2], PATHS[0], PATHS[1]] {
            all.push(post(&server, path, &ask(&json!({}))).await);
        }
        server.assert_finished();
        all
    }
    assert_eq!(run().await, run().await);
}
