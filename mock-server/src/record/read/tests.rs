use serde_json::json;

use super::*;
use crate::script::{Call, Ending, Item, Usage};

fn read_json(wire: Wire, body: &Value) -> Result<Read, String> {
    read(wire, body.to_string().as_bytes())
}

fn read_events(wire: Wire, events: &[Value]) -> Result<Read, String> {
    let frames: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let stream = frames.concat();
    read(wire, stream.as_bytes())
}

#[test]
fn the_items_of_a_stream_count_where_its_last_event_has_none() {
    let item = |text: &str| {
        let part = json!({"type": "output_text", "text": text, "annotations": []});
        json!({"type": "message", "role": "assistant", "content": [part]})
    };
    let done = |index: u64, text: &str| json!({"type": "response.output_item.done", "output_index": index, "item": item(text)});
    let completed = json!({
        "type": "response.completed",
        "response": {"status": "completed", "output": [], "usage": {"input_tokens": 9}},
    });
    let read = read_events(Wire::Responses, &[done(1, "b"), done(0, "a"), completed]).unwrap();
    assert_eq!(read.reply.items, [Item::message("a"), Item::message("b")]);
    assert_eq!(read.reply.usage, Usage { input: 9, cached: 0, output: 0, reasoning: 0 });
}

#[test]
fn what_a_script_cannot_say_is_named() {
    let body = json!({
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [
            {"type": "web_search_call", "id": "ws_1"},
            {"type": "message", "content": [
                {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation"}]},
                {"type": "refusal", "refusal": "no"},
            ]},
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text"}]},
        ],
    });
    let read = read_json(Wire::Responses, &body).unwrap();
    assert_eq!(read.reply.ending, Ending::Length);
    assert_eq!(
        read.left_out,
        [
            "an item of type \"web_search_call\"",
            "the annotations of a message",
            "a part of a message of type \"refusal\"",
            "the full text of a reasoning item",
        ]
    );

    let body = json!({"choices": [
        {"index": 0, "finish_reason": "stop", "message": {"content": null, "refusal": "no"}},
        {"index": 1, "finish_reason": "stop", "message": {"content": "b"}},
    ]});
    let read = read_json(Wire::Chat, &body).unwrap();
    assert_eq!(read.left_out, ["a refusal", "a choice beside the first"]);

    let body = json!({"stop_reason": "end_turn", "content": [
        {"type": "text", "text": "a", "citations": [{"type": "page_location"}]},
        {"type": "server_tool_use", "name": "web_search"},
    ]});
    let read = read_json(Wire::Messages, &body).unwrap();
    assert_eq!(read.left_out, ["the citations of a text", "a block of type \"server_tool_use\"",]);
}

#[test]
fn a_reply_that_did_not_end_well_is_none() {
    let failed =
        json!({"type": "response.failed", "response": {"error": {"code": "server_error"}}});
    for (wire, events, reason) in [
        (Wire::Responses, vec![], "the stream has no end"),
        (Wire::Responses, vec![failed], "the service answered with an error: server_error"),
        (
            Wire::Responses,
            vec![json!({"type": "error", "code": "rate_limit"})],
            "the service answered with an error: rate_limit",
        ),
        (
            Wire::Chat,
            vec![json!({"choices": [{"index": 0, "delta": {"content": "a"}}]})],
            "the reply has no finish reason",
        ),
        (
            Wire::Chat,
            vec![json!({"error": {"type": "overloaded"}})],
            "the service answered with an error: overloaded",
        ),
        (
            Wire::Messages,
            vec![json!({"type": "message_start", "message": {}})],
            "the stream has no end",
        ),
        (
            Wire::Messages,
            vec![json!({"type": "error", "error": {"type": "overloaded_error"}})],
            "the service answered with an error: overloaded_error",
        ),
        (
            Wire::Messages,
            vec![json!({"type": "content_block_delta", "index": 2})],
            "a piece came before the start of block 2",
        ),
    ] {
        assert_eq!(read_events(wire, &events).unwrap_err(), reason);
    }
    let queued = read_json(Wire::Responses, &json!({"status": "queued"})).unwrap_err();
    assert_eq!(queued, "its status is \"queued\"");
    let paused = json!({"stop_reason": "pause_turn", "content": []});
    assert_eq!(
        read_json(Wire::Messages, &paused).unwrap_err(),
        "its stop reason is \"pause_turn\""
    );
    assert!(read(Wire::Chat, b"<html>").is_err() && read(Wire::Chat, b"{\xff").is_err());
}

#[test]
fn real_services_differ_from_the_mock_in_small_things() {
    // Content and calls from several chunks, a usage chunk without choices, filter results first.
    let call = |more: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [more]}}], "usage": null});
    let read = read_events(
        Wire::Chat,
        &[
            json!({"choices": [], "prompt_filter_results": []}),
            json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}),
            call(json!({"index": 0, "id": "c1", "type": "function",
            "function": {"name": "f", "arguments": ""}})),
            call(json!({"index": 0, "function": {"arguments": "{\"a\": "}})),
            call(json!({"index": 0, "id": "", "function": {"arguments": "1.50}"}})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
        ],
    )
    .unwrap();
    // The arguments keep their own spaces and figures.
    let raw = CallPayload::RawArguments("{\"a\": 1.50}".to_owned());
    let expected = Call { call_id: Some("c1".to_owned()), ..Call::new("f", raw) };
    assert_eq!(read.reply.items, [Item::Call(expected)]);
    assert_eq!(read.reply.usage, Usage { input: 3, cached: 0, output: 4, reasoning: 0 });

    // A call without arguments has no piece; the figures grow.
    let read = read_events(
        Wire::Messages,
        &[
            json!({"type": "message_start", "message":
            {"usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 8}}),
            json!({"type": "message_stop"}),
        ],
    )
    .unwrap();
    let raw = CallPayload::RawArguments(String::new());
    let expected = Call { call_id: Some("t1".to_owned()), ..Call::new("f", raw) };
    assert_eq!(read.reply.items, [Item::Call(expected)]);
    assert_eq!(read.reply.usage, Usage { input: 7, cached: 2, output: 8, reasoning: 0 });
}
