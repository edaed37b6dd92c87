//! Further items and endings, on every wire.

use std::fmt::Write as _;

use crate::raw::{End, Got, PATHS, post};
use crate::sse;
use crate::support::{ask, model, start};
use async_openai::types::responses::{Response, ResponseStreamEvent};
use conform_mock_server::journal::Outcome;
use insta::assert_snapshot;
use serde_json::{Value, json};

async fn got(turn: &str, path: &str, more: &Value) -> Got {
    let server = start(&format!("turns:\n  - {turn}")).await;
    let got = post(&server, path, &ask(more)).await;
    assert_eq!(got.end, End::Whole);
    got
}

async fn streamed(turn: &str, path: &str) -> Vec<Value> {
    let got = got(turn, path, &json!({"tools": null})).await;
    assert_eq!(got.status(), 200, "{}", got.text());
    let (events, at_rest) = sse::parse(&got.body());
    assert!(at_rest);
    events
        .into_iter()
        .map(|event| serde_json::from_str(&event.data).unwrap_or(Value::String(event.data)))
        .collect()
}

/// The events in short: all but the first and last snapshots, which echo the request.
fn shown(events: &[Value]) -> String {
    let line = |event: &Value| {
        let mut event = event.clone();
        if let Some(response) = event.get_mut("response") {
            *response = json!({
                "status": response["status"],
                "error": response["error"],
                "incomplete_details": response["incomplete_details"],
                "output": response["output"].as_array().map(Vec::len),
                "usage": response["usage"].is_object(),
                "end_turn": response.get("end_turn"),
            });
        }
        for key in ["id", "object", "created", "model", "service_tier", "system_fingerprint"] {
            if event.get("object").is_some() || key != "object" {
                event.as_object_mut().map(|fields| fields.shift_remove(key));
            }
        }
        event.to_string()
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

const ITEMS: &str = "items:
      - reasoning: {summary: Short, content: [Thinking aloud], encrypted_content: gAAA}
      - web_search: {query: conform, results: [{url: 'https://example.com/', title: Example}]}
      - parts:
          - text: See there.
            annotations: [{type: url_citation, url: 'https://example.com/', title: Example, start_index: 0, end_index: 9}]
          - refusal: No more.
        phase: commentary";

#[tokio::test]
async fn every_item_of_the_responses_wire_streams() {
    let turn = format!(
        "{ITEMS}
      - local_shell: {{command: [ls, -a], timeout_ms: 1000}}
      - compaction: {{}}
      - raw: {{type: image_generation_call, id: ig_1, status: completed, result: ''}}"
    );
    let events = streamed(&turn, PATHS[0]).await;
    assert_snapshot!(shown(&events));
    for event in &events {
        let typed = serde_json::from_value::<ResponseStreamEvent>(event.clone());
        assert!(typed.is_ok(), "{typed:?} of {event}");
    }
    let whole = got(&turn, PATHS[0], &json!({"stream": false, "tools": null})).await;
    assert_eq!(whole.json()["output"], events.last().unwrap()["response"]["output"]);
    let _typed: Response = serde_json::from_slice(&whole.body()).unwrap();
}

#[tokio::test]
async fn the_messages_wire_carries_searches_citations_and_refusals() {
    let events =
        streamed(&format!("{ITEMS}\n      - raw: {{type: fallback, why: x}}"), PATHS[2]).await;
    assert_snapshot!(shown(&events));
    let whole = got(ITEMS, PATHS[2], &json!({"stream": false})).await;
    assert_snapshot!(serde_json::to_string_pretty(&whole.json()).unwrap());
}

#[tokio::test]
async fn the_chat_wire_carries_annotations_and_refusals() {
    let turn =
        ITEMS.lines().filter(|line| !line.contains("web_search")).collect::<Vec<_>>().join("\n");
    assert_snapshot!(shown(&streamed(&turn, PATHS[1]).await));
    let whole = got(&turn, PATHS[1], &json!({"stream": false})).await;
    assert_snapshot!(whole.json()["choices"][0]["message"].to_string());
}

#[tokio::test]
async fn a_reply_can_end_for_any_reason_on_the_wires_that_have_one() {
    let ending = |ending: &str| format!("{{say: Hello, ending: {ending}}}");
    for (path, pointer, value) in [
        (PATHS[0], "/response/incomplete_details/reason", "pause_turn"),
        (PATHS[1], "/choices/0/finish_reason", "pause_turn"),
        (PATHS[2], "/delta/stop_reason", "pause_turn"),
    ] {
        let events = streamed(&ending("{reason: pause_turn}"), path).await;
        let found = events.iter().any(|event| event.pointer(pointer) == Some(&json!(value)));
        assert!(found, "{path}: {events:?}");
    }
    let events = streamed(&ending("{stop_sequence: END}"), PATHS[2]).await;
    assert_eq!(
        events[events.len() - 2]["delta"],
        json!({"stop_reason": "stop_sequence", "stop_sequence": "END"})
    );
    let events = streamed(&ending("{stop_sequence: END}"), PATHS[1]).await;
    assert_eq!(events[events.len() - 2]["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn a_reply_can_fail_after_it_has_begun() {
    let mut shown_all = String::new();
    for ending in [
        "{failed: {code: rate_limit_exceeded, message: try again in 0.2s}}",
        "{failed: {unfinished: true}}",
        "{error: {code: server_error, message: broken, unfinished: true}}",
        "{error: {form: nested, status: 503, type: overloaded_error, code: slow_down}}",
    ] {
        let turn = format!("{{items: [{{say: Whole}}, {{say: Half a}}], ending: {ending}}}");
        for path in PATHS {
            let events = streamed(&turn, path).await;
            let _ = write!(shown_all, "## {path} {ending}\n{}\n\n", shown(&events));
        }
    }
    assert_snapshot!(shown_all);
    let turn = "{say: Half, ending: {failed: {code: server_error, message: m}}}";
    let whole = got(turn, PATHS[0], &json!({"stream": false})).await.json();
    assert_eq!(whole["status"], "failed");
    assert_eq!(whole["error"], json!({"code": "server_error", "message": "m"}));
}

#[tokio::test]
async fn end_turn_and_extra_events_come_when_a_script_asks() {
    let events = streamed(
        "{say: Hello, end_turn: false, extra_events: [\
         {type: codex.rate_limits, before_event: 1, fields: {plan_type: pro}}, \
         {type: response.metadata, before_event: response.output_text.delta, fields: {headers: {}}}, \
         {type: keepalive}]}",
        PATHS[0],
    )
    .await;
    assert_eq!(events.last().unwrap()["response"]["end_turn"], false);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types[0], "codex.rate_limits");
    assert_eq!(events[0]["plan_type"], "pro");
    assert_eq!(types[5..7], ["response.metadata", "response.output_text.delta"]);
    assert_eq!(types[types.len() - 2..], ["keepalive", "response.completed"]);
    let plain = streamed("{say: Hello}", PATHS[0]).await;
    assert!(plain.last().unwrap()["response"].get("end_turn").is_none());
    assert_eq!(plain.len() + 3, events.len());
}

#[tokio::test]
async fn what_a_wire_has_no_place_for_is_refused_and_told() {
    let (stream, whole) = (json!({}), json!({"stream": false}));
    for (path, body, turn, reason) in [
        (PATHS[1], &stream, "{items: [{web_search: {query: q}}]}", "no place for a web search"),
        (PATHS[1], &stream, "{items: [{raw: {type: x}}]}", "no place for a raw item"),
        (
            PATHS[1],
            &whole,
            "{items: [{local_shell: {command: [ls]}}]}",
            "no place for a local shell call",
        ),
        (
            PATHS[2],
            &stream,
            "{items: [{local_shell: {command: [ls]}}]}",
            "no place for a local shell call",
        ),
        (PATHS[2], &whole, "{items: [{compaction: {}}]}", "no place for a compaction item"),
        (PATHS[0], &stream, "{say: x, ending: {stop_sequence: END}}", "no stop sequences"),
        (PATHS[0], &whole, "{say: x, ending: {error: {}}}", "cannot fail after it has begun"),
        (PATHS[1], &whole, "{say: x, ending: {failed: {}}}", "cannot fail after it has begun"),
        (PATHS[2], &stream, "{say: x, end_turn: true}", "has no `end_turn`"),
        (
            PATHS[2],
            &stream,
            "{say: x, extra_events: [{type: keepalive}]}",
            "extra events need a stream",
        ),
        (
            PATHS[0],
            &whole,
            "{say: x, extra_events: [{type: keepalive}]}",
            "extra events need a stream",
        ),
        (
            PATHS[0],
            &stream,
            "{say: x, extra_events: [{type: k, before_event: 50}]}",
            "there is no event 50",
        ),
    ] {
        let server = start(&format!("turns: [{turn}]")).await;
        let got = post(&server, path, &ask(body)).await;
        assert_eq!(got.status(), 400, "{turn}");
        assert!(got.text().contains(reason), "{}", got.text());
        assert!(got.text().contains("conform_script_mismatch"));
        let Outcome::Unfit { reason: journaled, .. } =
            model(&server.journal().snapshot()[0]).outcome.clone()
        else {
            panic!("{turn} is told in the journal")
        };
        assert!(journaled.contains(reason), "{journaled}");
    }
}
