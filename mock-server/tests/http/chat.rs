//! Replies on the Chat Completions wire.

use async_openai::types::chat::{CreateChatCompletionResponse, CreateChatCompletionStreamResponse};
use conform_mock_server::journal::Outcome;
use conform_mock_server::script::{CallPayload, Item, Reply, Script};
use conform_mock_server::server::MockServer;
use conform_mock_server::wire::Wire;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stream::{RUNTIME, any_item};
use crate::support::{Answer, Connection, SseEvent, model, start};

const PATH: &str = "/v1/chat/completions";

/// A request that asks for a stream, offers the tools `f` and `g` and the free-form tool `patch`.
fn ask(more: &Value) -> Value {
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let mut body = json!({
        "model": "test-model",
        "stream": true,
        "messages": [{"role": "user", "content": "Hello"}],
        "tools": [function("f"), function("g"), {"type": "custom", "custom": {"name": "patch"}}],
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
      - reasoning: {summary: [Looking around, Found it], encrypted_content: gAAAA}
      - say: Looking.
      - call: {name: f, arguments: {command: [ls, -la], workdir: /somewhere/else}}
      - {say: Patching., phase: commentary}
      - call: {name: patch, input: \"*** Begin Patch\\n*** End Patch\\n\", call_id: call_x}
    usage: {input: 1000, cached: 900, output: 50, reasoning: 40}
    headers: {x-turn-state: abc}";

#[tokio::test]
async fn text_comes_in_pieces_and_ends_with_done() {
    assert_snapshot!(answer(TEXT, &json!({})).await.shown());
}

#[tokio::test]
async fn the_usage_comes_last_if_it_is_asked_for() {
    let more = json!({"stream_options": {"include_usage": true}});
    assert_snapshot!(answer("  - say: Hello", &more).await.shown());
}

#[tokio::test]
async fn reasoning_text_and_calls_stream_in_order() {
    assert_snapshot!(answer(ALL, &json!({})).await.shown());
}

#[tokio::test]
async fn parallel_calls_follow_each_other() {
    let turn = "  - calls:
      - {name: f, arguments: {}}
      - {name: spawn, namespace: agents, raw_arguments: '{broken', offered: false}
      - {name: g, raw_arguments: ''}";
    assert_snapshot!(answer(turn, &json!({})).await.shown());
}

#[tokio::test]
async fn without_stream_the_reply_is_one_object() {
    for (turn, name) in
        [(TEXT, "text"), (ALL, "all"), ("  - call: {name: f, arguments: {}}", "call")]
    {
        let answer = answer(turn, &json!({"stream": false})).await;
        // Those types do not know the wire's name for a custom call's fields.
        if name != "all" {
            let _typed: CreateChatCompletionResponse =
                serde_json::from_slice(&answer.body).unwrap();
        }
        assert_snapshot!(format!("whole_{name}"), answer.shown_pretty());
    }
}

#[tokio::test]
async fn a_reply_that_is_cut_short_says_why() {
    for (ending, expected) in [("length", "length"), ("filtered", "content_filter")] {
        let turn = format!("  - {{say: Half a, ending: {ending}}}");
        let whole = answer(&turn, &json!({"stream": false})).await.json();
        assert_eq!(whole["choices"][0]["finish_reason"], expected);
        let stream = answer(&turn, &json!({})).await;
        let end = format!("\"delta\":{{}},\"logprobs\":null,\"finish_reason\":\"{expected}\"");
        assert!(stream.text().contains(&end), "{}", stream.text());
    }
}

#[tokio::test]
async fn the_journal_names_the_wire_and_the_ids() {
    let server = start("turns:\n  - call: {name: f, arguments: {}}").await;
    Connection::open(&server).await.post_to("/chat/completions", &ask(&json!({}))).await;
    let exchanges = server.journal().snapshot();
    let exchange = model(&exchanges[0]);
    assert_eq!(exchange.wire, Wire::Chat);
    let Outcome::Served(turn) = &exchange.outcome else { panic!("{:?}", exchange.outcome) };
    assert_eq!(turn.response_id, "chatcmpl-1");
    assert_eq!(turn.call_ids, ["call_1_1"]);
}

#[tokio::test]
async fn a_request_that_cannot_be_answered_gets_an_error() {
    let server = start("turns: [{call: {name: h, arguments: {}}}]").await;
    let mut connection = Connection::open(&server).await;
    let refused = |answer: Answer| (answer.status(), answer.json()["error"].clone());

    let (status, error) = refused(connection.post_to(PATH, &ask(&json!({}))).await);
    assert_eq!(status, 400);
    assert_eq!(
        error,
        json!({
            "message": "`turn 1` calls `h`, but the request offers f, g, patch",
            "type": "invalid_request_error",
            "param": null,
            "code": "conform_script_mismatch",
        })
    );
    for (more, param) in [
        (json!({"model": null}), "model"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"stream_options": {"include_usage": 1}}), "stream_options.include_usage"),
    ] {
        let (status, error) = refused(connection.post_to(PATH, &ask(&more)).await);
        assert_eq!((status, error["param"].as_str()), (400, Some(param)));
    }
}

#[tokio::test]
async fn the_same_script_and_requests_give_the_same_bytes() {
    let (first, second) = (answer(ALL, &json!({})).await, answer(ALL, &json!({})).await);
    assert_eq!(first, second);
}

/// What a client puts together from the deltas.
#[derive(Debug, Default, PartialEq)]
struct Message {
    content: Option<String>,
    reasoning: Option<String>,
    /// Type, id, name and payload.
    calls: Vec<[String; 4]>,
}

fn append(to: &mut Option<String>, delta: Option<&str>) {
    if let Some(delta) = delta {
        to.get_or_insert_default().push_str(delta);
    }
}

fn from_deltas(deltas: &[Value]) -> Message {
    let mut message = Message::default();
    for delta in deltas {
        append(&mut message.content, delta["content"].as_str());
        append(&mut message.reasoning, delta["reasoning_content"].as_str());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            if let Some(id) = call["id"].as_str() {
                assert_eq!(index, message.calls.len(), "calls are numbered in order");
                let native_type = call["type"].as_str().unwrap();
                let name = call[native_type]["name"].as_str().unwrap();
                let empty = String::new();
                message.calls.push([native_type.into(), id.into(), name.into(), empty]);
            }
            let native_type = message.calls[index][0].as_str();
            let field = if native_type == "function" { "arguments" } else { "input" };
            let piece = call[native_type][field].as_str().unwrap();
            message.calls[index][3].push_str(piece);
        }
    }
    message
}

/// What the script says, with the ids that a reply of the first turn has.
fn from_script(items: &[Item]) -> Message {
    let joined = |texts: Vec<&str>| (!texts.is_empty()).then(|| texts.join("\n\n"));
    let mut message = Message::default();
    let (mut content, mut reasoning) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match item {
            Item::Message { text, .. } => content.push(text.as_str()),
            Item::Reasoning { summary, content, .. } => {
                reasoning.extend(summary.iter().chain(content).map(String::as_str));
            }
            Item::Call(call) => {
                let (native_type, payload) = match &call.payload {
                    CallPayload::Arguments(arguments) => {
                        ("function", serde_json::to_string(arguments).unwrap())
                    }
                    CallPayload::RawArguments(text) => ("function", text.clone()),
                    CallPayload::Input(text) => ("custom", text.clone()),
                };
                let id = call.call_id.clone().unwrap_or_else(|| format!("call_1_{}", index + 1));
                message.calls.push([native_type.to_owned(), id, call.name.clone(), payload]);
            }
            other => panic!("made by no strategy for this wire: {other:?}"),
        }
    }
    message.content = joined(content);
    message.reasoning = joined(reasoning).filter(|text| !text.is_empty());
    message
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any reply gives a stream that any chunking parses back to the same message, and that
    /// another implementation's types can read, but for custom calls, which they do not know.
    #[test]
    fn any_reply_can_be_read_back_from_any_pieces(
        items in proptest::collection::vec(any_item(), 0..4),
        include_usage in any::<bool>(),
        cuts in proptest::collection::vec(1..40_usize, 1..20),
    ) {
        let reply = Reply::of(items.clone());
        let more = json!({"stream_options": {"include_usage": include_usage}});
        let answer = RUNTIME.block_on(async {
            let server = MockServer::builder(Script::of([reply])).start().await.unwrap();
            Connection::open(&server).await.post_to(PATH, &ask(&more)).await
        });
        let mut events = answer.read_in_pieces(&cuts);
        prop_assert_eq!(events.len(), answer.chunks.len(), "one chunk an event");
        let done = events.pop().unwrap();
        prop_assert_eq!(done.data, "[DONE]");
        for event in &events {
            prop_assert_eq!(&event.event, "");
            let typed = serde_json::from_str::<CreateChatCompletionStreamResponse>(&event.data);
            let known = typed.is_ok() || event.data.contains("\"custom\":");
            prop_assert!(known, "{:?} of {}", typed, event.data);
        }
        let mut chunks: Vec<Value> = events.iter().map(SseEvent::data).collect();
        for chunk in &chunks {
            prop_assert_eq!(&chunk["id"], "chatcmpl-1");
            prop_assert_eq!(chunk.get("usage").is_some(), include_usage);
        }
        if include_usage {
            let usage = chunks.pop().unwrap();
            prop_assert_eq!(&usage["choices"], &json!([]));
            prop_assert_eq!(&usage["usage"]["total_tokens"], &json!(120));
        }
        let (end, deltas) = chunks.split_last().unwrap();
        let has_calls = items.iter().any(|item| matches!(item, Item::Call(_)));
        let expected = if has_calls { "tool_calls" } else { "stop" };
        prop_assert_eq!(&end["choices"][0]["finish_reason"], expected);
        prop_assert_eq!(&end["choices"][0]["delta"], &json!({}));
        for chunk in deltas {
            prop_assert_eq!(&chunk["choices"][0]["finish_reason"], &Value::Null);
        }
        prop_assert_eq!(&deltas[0]["choices"][0]["delta"]["role"], "assistant");

        let deltas: Vec<Value> =
            deltas.iter().map(|chunk| chunk["choices"][0]["delta"].clone()).collect();
        prop_assert_eq!(from_deltas(&deltas), from_script(&items));
    }
}
