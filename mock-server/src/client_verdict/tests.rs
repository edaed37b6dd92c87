//! Each misstep on journals made by hand: once it is there, and once, in the nearest case, not.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::journal::{Answer, Delivery, ModelExchange, Outcome, Route, Served};
use crate::script::Purpose;
use crate::wire::Wire;

/// A request at a time in milliseconds.
struct At {
    milliseconds: u64,
    wire: Wire,
    body: Value,
    status: u16,
    retry_after: Option<u64>,
    delivery: Delivery,
}

fn at(milliseconds: u64, body: Value) -> At {
    let (status, delivery) = (200, Delivery::Complete);
    At { milliseconds, wire: Wire::Responses, body, status, retry_after: None, delivery }
}

impl At {
    fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    fn retry_after(self, milliseconds: u64) -> Self {
        Self { retry_after: Some(milliseconds), ..self }
    }

    fn cut(self) -> Self {
        Self { delivery: Delivery::Cut, ..self }
    }

    fn over(self, wire: Wire) -> Self {
        Self { wire, ..self }
    }

    fn exchange(self, number: u64) -> Exchange {
        let body = Arc::new(self.body);
        let served = Served {
            turn: 0,
            label: "turn 1".into(),
            response_id: "resp_1".into(),
            call_ids: Vec::new(),
        };
        Exchange {
            number,
            received: Duration::from_millis(self.milliseconds),
            method: "POST".into(),
            path: "/v1/responses".into(),
            query: None,
            headers: Vec::new(),
            body: Bytes::new(),
            route: Route::Model(ModelExchange {
                wire: self.wire,
                purpose: Purpose::main(),
                json: Some(Arc::clone(&body)),
                effective: Some(body),
                dropped: Vec::new(),
                outcome: Outcome::Served(served),
                answer: Some(Answer {
                    status: self.status,
                    retry_after: self.retry_after.map(Duration::from_millis),
                }),
                delivery: self.delivery,
                applied: None,
            }),
        }
    }
}

fn verdict(requests: impl IntoIterator<Item = At>) -> ClientVerdict {
    let exchanges: Vec<_> =
        (1..).zip(requests).map(|(number, request)| request.exchange(number)).collect();
    grade(&exchanges, &Thresholds::default())
}

/// The kinds found, with the exchanges that show them.
fn found(requests: impl IntoIterator<Item = At>) -> Vec<(Kind, Vec<u64>)> {
    verdict(requests).missteps.into_iter().map(|one| (one.kind, one.exchanges)).collect()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"})
}

fn result(id: &str, output: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

fn ask(items: &[Value]) -> Value {
    json!({"model": "m", "input": items})
}

fn hello() -> Value {
    ask(&[user("Hello")])
}

#[test]
fn a_client_that_does_all_right_gets_no_word() {
    let verdict = verdict([
        at(0, hello()).status(429).retry_after(1000),
        at(1000, hello()).status(500),
        at(1500, hello()).status(500),
        at(2500, hello()),
        at(2600, ask(&[user("Hello"), assistant("Hi"), user("And?")])),
    ]);
    assert_eq!(verdict.to_string(), "nothing to say against the client");
    assert!(verdict.is_clean());
}

#[test]
fn coming_before_the_time_named() {
    let after = |milliseconds| {
        found([at(100, hello()).status(429).retry_after(1000), at(milliseconds, hello())])
    };
    assert_eq!(after(1099), [(Kind::RetryAfterIgnored, vec![1, 2])]);
    assert_eq!(after(1100), []);
    // Another question may be asked at any time.
    let other = at(200, ask(&[user("Other")]));
    assert_eq!(found([at(100, hello()).status(429).retry_after(1000), other]), []);
    // A wait that no client keeps.
    let hour = at(100, hello()).status(429).retry_after(3_600_000);
    assert_eq!(found([hour, at(5000, hello())]), []);
}

#[test]
fn sending_again_what_was_refused_for_good() {
    for status in [400, 403, 404, 413, 422] {
        let again = found([at(0, hello()).status(status), at(5000, hello())]);
        assert_eq!(again, [(Kind::NonRetryableRetried, vec![1, 2])], "{status}");
    }
    for status in [408, 409, 429, 500, 503, 529] {
        assert_eq!(found([at(0, hello()).status(status), at(5000, hello())]), [], "{status}");
    }
    // A changed request is another one.
    let shorter = at(5000, ask(&[user("Hi")]));
    assert_eq!(found([at(0, hello()).status(400), shorter]), []);
    // Settings and ids do not make another question.
    let mut body = hello();
    body["metadata"] = json!({"try": "2"});
    let again = found([at(0, hello()).status(400), at(5000, body)]);
    assert_eq!(again, [(Kind::NonRetryableRetried, vec![1, 2])]);
}

#[test]
fn one_new_key_may_be_tried() {
    let refused = |milliseconds| at(milliseconds, hello()).status(401);
    assert_eq!(found([refused(0), refused(1000)]), []);
    let twice = found([refused(0), refused(1000), refused(2000)]);
    assert_eq!(twice, [(Kind::NonRetryableRetried, vec![2, 3])]);
}

#[test]
fn asking_again_and_again() {
    let failing = |count: u64| (0..count).map(|time| at(time * 1000, hello()).status(500));
    assert_eq!(found(failing(10)), []);
    assert_eq!(found(failing(11)), [(Kind::RetryStorm, (1..=11).collect())]);
    // The attempt that succeeds counts too; one after it is a new beginning.
    let succeeded = failing(10).chain([at(20_000, hello())]);
    assert_eq!(found(succeeded), [(Kind::RetryStorm, (1..=11).collect())]);
    let two_runs = failing(5).chain([at(6000, hello())]).chain(failing(5));
    assert_eq!(
        found(
            two_runs
                .map(|at| At { milliseconds: 0, ..at })
                .enumerate()
                .map(|(index, request)| At { milliseconds: index as u64 * 1000, ..request })
        ),
        []
    );
}

#[test]
fn coming_again_at_once() {
    let failing = |times: &[u64]| {
        let failed = |time: &u64| at(*time, hello()).status(503);
        times.iter().map(failed).collect::<Vec<_>>()
    };
    assert_eq!(found(failing(&[0, 10, 20])), [(Kind::NoBackoff, vec![1, 2, 3])]);
    assert_eq!(found(failing(&[0, 10])), []);
    assert_eq!(found(failing(&[0, 10, 110])), []);
    assert_eq!(found(failing(&[0, 200, 210, 410, 420])), []);
    // A wait that the server asked for is the other misstep's.
    let asked = [0, 10, 20].map(|time| at(time, hello()).status(503).retry_after(5));
    assert_eq!(found(asked), []);
}

#[test]
fn taking_a_cut_reply_for_a_whole_one() {
    let cut = || at(0, hello()).cut();
    let partial = ask(&[user("Hello"), assistant("I sh"), user("Go on")]);
    assert_eq!(found([cut(), at(500, partial)]), [(Kind::TruncatedStreamAccepted, vec![1, 2])]);
    let partial_call = ask(&[user("Hello"), call("call_1"), result("call_1", "done")]);
    assert_eq!(
        found([cut(), at(500, partial_call)]),
        [(Kind::TruncatedStreamAccepted, vec![1, 2])]
    );
    // Asked again, and answered: then its words are those of the second reply.
    let whole = ask(&[user("Hello"), assistant("I should"), user("Go on")]);
    assert_eq!(found([cut(), at(500, hello()), at(900, whole)]), []);
    // Left out, and the user told.
    let left_out = ask(&[user("Hello"), user("Go on")]);
    assert_eq!(found([cut(), at(500, left_out)]), []);
}

#[test]
fn a_result_without_its_call() {
    let with = ask(&[user("Hello"), call("call_1"), result("call_1", "done")]);
    let without = ask(&[user("Hello"), result("call_1", "done")]);
    assert_eq!(found([at(0, with)]), []);
    assert_eq!(found([at(0, without.clone())]), [(Kind::OrphanResults, vec![1])]);
    // The history stays in later requests, and is told once.
    let later = ask(&[user("Hello"), result("call_1", "done"), assistant("Ok"), user("And?")]);
    assert_eq!(found([at(0, without), at(10, later)]), [(Kind::OrphanResults, vec![1])]);
    // On top of an earlier response its calls are known.
    let mut chained = ask(&[result("call_1", "done")]);
    chained["previous_response_id"] = json!("resp_1");
    assert_eq!(found([at(0, chained)]), []);
}

#[test]
fn one_call_with_two_results() {
    let history = |results: &[Value]| {
        let mut items = vec![user("Hello"), call("call_1")];
        items.extend_from_slice(results);
        ask(&items)
    };
    let twice = history(&[result("call_1", "a"), result("call_1", "a")]);
    assert_eq!(found([at(0, twice)]), [(Kind::DoubleExecutionSuspected, vec![1])]);

    let changed = |text: &str| {
        let more = history(&[result("call_1", text), assistant("Ok"), user("And?")]);
        found([at(0, history(&[result("call_1", "7 files were written")])), at(10, more)])
    };
    assert_eq!(
        changed("8 files, and more, were written"),
        [(Kind::DoubleExecutionSuspected, vec![1, 2])]
    );
    assert_eq!(changed("7 files were written"), []);
    assert_eq!(changed("7 files…"), [], "an old result made shorter");
    // A result of several parts is one.
    let parts = json!({"type": "function_call_output", "call_id": "call_1", "output": [
        {"type": "input_text", "text": "a"},
        {"type": "input_text", "text": "b"},
    ]});
    assert_eq!(found([at(0, history(&[parts]))]), []);
}

#[test]
fn one_prompt_over_two_wires() {
    let chat = || json!({"model": "m", "messages": [user("Hello")]});
    let twice = found([at(0, hello()), at(10, chat()).over(Wire::Chat)]);
    assert_eq!(twice, [(Kind::FullPromptOverTwoTransports, vec![1, 2])]);
    // Refused on the first wire, a client may take another.
    let refused = at(0, hello()).status(426);
    assert_eq!(found([refused, at(10, chat()).over(Wire::Chat)]), []);
    assert_eq!(found([at(0, hello()), at(10, hello())]), []);
}

#[test]
fn a_verdict_is_told_in_lines() {
    let verdict = verdict([
        at(0, ask(&[user("Hello"), result("call_1", "done")])).status(400),
        at(5000, ask(&[user("Hello"), result("call_1", "done")])).status(429).retry_after(1000),
        at(5200, ask(&[user("Hello"), result("call_1", "done")])),
    ]);
    insta::assert_snapshot!(verdict);
    assert_eq!(verdict.at_least(Severity::Must).count(), verdict.missteps.len());
    insta::assert_json_snapshot!(verdict.missteps[0]);
}
