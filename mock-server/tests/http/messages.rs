//! Replies on the Messages wire.

use conform_mock_server::journal::Outcome;
use conform_mock_server::script::{CallPayload, Item, Reply, Script};
use conform_mock_server::server::MockServer;
use conform_mock_server::wire::Wire;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stream::{RUNTIME, any_item};
use crate::support::{Answer, Connection, SseEvent, model, start};

const PATH: &str = "/v1/messages?beta=true";

/// A request that asks for a stream and offers the tools `f` and `g`.
fn ask(more: &Value) -> Value {
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    let mut body = json!({
        "model": "test-model",
        "max_tokens": 1000,
        "stream": true,
        "messages": [{"role": "user", "content": "Hello"}],
        "tools": [tool("f"), tool("g")],
    });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// The answer to a request that gets the only turn of a script.
async fn answer(turn: &str, more: &Value) -> Answer {
    let server = start(&format!("turns:\n{turn}")).await;
    let answer = Connection::open(&server).await.post_to(PATH, &ask(more)).await;
    server.assert_finished();
    answer
}

const TEXT: &str = "  - say: Grüße from the model, which has a little more to say than one piece.";

const ALL: &str = "  - items:
      - reasoning: {summary: [Looking around, Found it], encrypted_content: EqQB}
      - reasoning: {encrypted_content: opaque}
      - reasoning: {}
      - say: I will look.
      - call: {name: f, arguments: {command: [ls, -la], workdir: /somewhere/else}}
    usage: {input: 1000, cached: 900, output: 50, reasoning: 40}
    headers: {x-turn-state: abc}";

const CALLS: &str = "  - calls:
      - {name: f, arguments: {}}
      - {name: g, raw_arguments: '{broken', call_id: toolu_x}
      - {name: g, raw_arguments: ''}
      - {name: patch, input: free form, offered: false}";

#[tokio::test]
async fn text_comes_in_pieces_of_one_block() {
    assert_snapshot!(answer(TEXT, &json!({})).await.shown());
}

#[tokio::test]
async fn thinking_text_and_a_call_are_blocks_in_order() {
    assert_snapshot!(answer(ALL, &json!({})).await.shown());
}

#[tokio::test]
async fn parallel_calls_are_blocks_that_follow_each_other() {
    assert_snapshot!(answer(CALLS, &json!({})).await.shown());
}

#[tokio::test]
async fn without_stream_the_reply_is_one_message() {
    for (turn, name) in [(TEXT, "text"), (ALL, "all"), (CALLS, "calls")] {
        let answer = answer(turn, &json!({"stream": false})).await;
        assert_snapshot!(format!("whole_{name}"), answer.shown_pretty());
    }
}

#[tokio::test]
async fn a_reply_that_is_cut_short_says_why() {
    for (ending, expected) in [("length", "max_tokens"), ("filtered", "refusal")] {
        let turn = format!("  - {{say: Half a, ending: {ending}}}");
        let whole = answer(&turn, &json!({"stream": false})).await.json();
        assert_eq!(whole["stop_reason"], expected);
        let stream = answer(&turn, &json!({})).await;
        let end = stream.events().into_iter().rfind(|event| event["type"] == "message_delta");
        assert_eq!(end.unwrap()["delta"]["stop_reason"], expected);
    }
}

#[tokio::test]
async fn the_journal_names_the_wire_and_the_ids() {
    let server = start("turns:\n  - call: {name: f, arguments: {}}").await;
    Connection::open(&server).await.post_to(PATH, &ask(&json!({}))).await;
    let exchanges = server.journal().snapshot();
    let exchange = model(&exchanges[0]);
    assert_eq!(exchange.wire, Wire::Messages);
    assert_eq!(exchanges[0].query.as_deref(), Some("beta=true"));
    let Outcome::Served(turn) = &exchange.outcome else { panic!("{:?}", exchange.outcome) };
    assert_eq!(turn.response_id, "msg_1");
    assert_eq!(turn.call_ids, ["toolu_1_1"]);
}

#[tokio::test]
async fn a_request_that_cannot_be_answered_gets_an_error_of_this_wire() {
    let server = start("turns: [{call: {name: h, arguments: {}}}]").await;
    let mut connection = Connection::open(&server).await;

    let refused = connection.post_to(PATH, &ask(&json!({}))).await;
    assert_eq!(refused.status(), 400);
    assert!(refused.head.contains("\r\nrequest-id: req_e1\r\n"), "{}", refused.head);
    assert_eq!(
        refused.json(),
        json!({
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "`turn 1` calls `h`, but the request offers f, g",
                "details": {"error_code": "conform_script_mismatch"},
            },
            "request_id": "req_e1",
        })
    );
    let malformed = connection.request("POST", PATH, &[], b"{").await;
    assert_eq!(malformed.status(), 400);
    assert_eq!(malformed.json()["request_id"], "req_e2");
    assert_eq!(malformed.json()["error"].as_object().unwrap().len(), 2);

    let version = [("anthropic-version", "2023-06-01")];
    for (method, path, status, kind) in [
        ("GET", PATH, 405, "invalid_request_error"),
        ("POST", "/v1/complete", 404, "not_found_error"),
    ] {
        let answer = connection.request(method, path, &version, b"").await;
        assert_eq!(answer.status(), status);
        assert_eq!(answer.json()["error"]["type"], kind);
    }
}

#[tokio::test]
async fn the_same_script_and_requests_give_the_same_bytes() {
    let (first, second) = (answer(ALL, &json!({})).await, answer(ALL, &json!({})).await);
    assert_eq!(first, second);
}

/// What a client puts together from the events: for each block its fields, with the input of a
/// call as text.
fn from_events(events: &[Value]) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    let mut open = None;
    for event in events {
        let index = event["index"].as_u64().map(|index| usize::try_from(index).unwrap());
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!((index, open), (Some(blocks.len()), None), "blocks follow each other");
                open = index;
                let mut block = event["content_block"].clone();
                if block["type"] == "tool_use" {
                    assert_eq!(block["input"], json!({}));
                    block["input"] = json!("");
                }
                blocks.push(block);
            }
            "content_block_delta" => {
                assert_eq!(index, open, "a delta belongs to the open block");
                let (from, to) = match event["delta"]["type"].as_str().unwrap() {
                    "text_delta" => ("text", "text"),
                    "thinking_delta" => ("thinking", "thinking"),
                    "signature_delta" => ("signature", "signature"),
                    "input_json_delta" => ("partial_json", "input"),
                    other => panic!("{other}"),
                };
                let field = &mut blocks[index.unwrap()][to];
                let piece = event["delta"][from].as_str().unwrap();
                *field = format!("{}{piece}", field.as_str().unwrap()).into();
            }
            "content_block_stop" => {
                assert_eq!(index, open);
                open = None;
            }
            _ => {}
        }
    }
    assert_eq!(open, None);
    blocks
}

/// What the script says, with the ids that a reply of the first turn has.
fn from_script(items: &[Item]) -> Vec<Value> {
    let block = |(index, item): (usize, &Item)| match item {
        Item::Message { text, .. } => json!({"type": "text", "text": text}),
        Item::Reasoning { summary, content, encrypted_content: Some(data) }
            if summary.is_empty() && content.is_empty() =>
        {
            json!({"type": "redacted_thinking", "data": data})
        }
        Item::Reasoning { summary, content, encrypted_content } => {
            let thinking = [summary.as_slice(), content].concat().join("\n\n");
            let made = format!("sig_1_{}", index + 1);
            let signature = encrypted_content.clone().unwrap_or(made);
            json!({"type": "thinking", "thinking": thinking, "signature": signature})
        }
        Item::Call(call) => {
            let input = match &call.payload {
                CallPayload::Arguments(arguments) => serde_json::to_string(arguments).unwrap(),
                CallPayload::RawArguments(text) => text.clone(),
                CallPayload::Input(text) => json!({"input": text}).to_string(),
            };
            let id = call.call_id.clone().unwrap_or_else(|| format!("toolu_1_{}", index + 1));
            json!({"type": "tool_use", "id": id, "name": call.name, "input": input})
        }
        other => panic!("made by no strategy for this wire: {other:?}"),
    };
    items.iter().enumerate().map(block).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any reply gives a stream that any chunking parses back to the same blocks.
    #[test]
    fn any_reply_can_be_read_back_from_any_pieces(
        items in proptest::collection::vec(any_item(), 0..4),
        cuts in proptest::collection::vec(1..40_usize, 1..20),
    ) {
        let reply = Reply::of(items.clone());
        let answer = RUNTIME.block_on(async {
            let server = MockServer::builder(Script::of([reply])).start().await.unwrap();
            Connection::open(&server).await.post_to(PATH, &ask(&json!({}))).await
        });
        let events = answer.read_in_pieces(&cuts);
        prop_assert_eq!(events.len(), answer.chunks.len(), "one chunk an event");
        for event in &events {
            let data = event.data();
            prop_assert_eq!(data["type"].as_str(), Some(event.event.as_str()));
        }
        let events: Vec<Value> = events.iter().map(SseEvent::data).collect();
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        prop_assert_eq!(count("ping"), 1);
        prop_assert_eq!(count("content_block_start"), items.len());
        prop_assert_eq!(&events[0]["type"], "message_start");
        prop_assert_eq!(&events[0]["message"]["content"], &json!([]));
        prop_assert_eq!(&events[events.len() - 1], &json!({"type": "message_stop"}));
        let end = &events[events.len() - 2];
        let has_calls = items.iter().any(|item| matches!(item, Item::Call(_)));
        let expected = if has_calls { "tool_use" } else { "end_turn" };
        prop_assert_eq!(&end["delta"]["stop_reason"], expected);
        prop_assert_eq!(from_events(&events), from_script(&items));
    }
}
