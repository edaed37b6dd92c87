//! What a request stands for.

use super::*;
use crate::script::Reply;

fn item(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": text})
}

fn answered(turn: usize, request: &Arc<Value>) -> Answered {
    let ids = Ids::Turn { turn, repeat: 0 };
    Answered::reply(format!("resp_{}", turn + 1), request, &Purpose::main(), ids)
}

#[test]
fn a_chain_is_rebuilt_over_every_link() {
    let script = Script::of([Reply::say("one"), Reply::say("two")]);
    let first = Arc::new(json!({"instructions": "base", "input": "a"}));
    let second = json!({"previous_response_id": "resp_1", "input": [item("b")]});
    let second = chained(&script, &second, &answered(0, &first)).unwrap();
    let third = json!({
        "type": "response.create", "model": "m", "previous_response_id": "resp_2",
        "input": [item("c")], "tools": [],
    });
    let third = chained(&script, &third, &answered(1, &second)).unwrap();
    let said = |turn, text| {
        let ids = Ids::Turn { turn, repeat: 0 };
        wire::output_items(&Reply::say(text), ids).unwrap().remove(0)
    };
    assert_eq!(
        *third,
        // Instructions are those of the request itself: here, none.
        json!({
            "model": "m",
            "input": [item("a"), said(0, "one"), item("b"), said(1, "two"), item("c")],
            "tools": [],
        })
    );
}

#[test]
fn a_request_without_input_adds_nothing() {
    let script = Script::of([Reply::of([])]);
    let first = Arc::new(json!({"input": [item("a")]}));
    let second = chained(&script, &json!({"model": "m"}), &answered(0, &first)).unwrap();
    assert_eq!(*second, json!({"model": "m", "input": [item("a")]}));
}

#[test]
fn a_request_that_continues_nothing_stays_as_sent() {
    let sent = Arc::new(json!({"input": "a"}));
    assert!(Arc::ptr_eq(&unchained(&sent), &sent));
    let sent = Arc::new(json!({"type": "response.create", "input": "a", "stream_id": "s"}));
    assert_eq!(*unchained(&sent), json!({"input": "a"}));
}

#[test]
fn a_result_needs_its_call_before_it() {
    let call = json!({"type": "custom_tool_call", "call_id": "call_1"});
    let result = json!({"type": "custom_tool_call_output", "call_id": "call_1"});
    assert_eq!(orphan(&json!({"input": [call, result]})), None);
    assert_eq!(orphan(&json!({"input": [result, call]})), Some("call_1"));
    assert_eq!(orphan(&json!({"input": "text"})), None);
}
