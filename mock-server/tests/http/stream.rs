//! What a reply looks like on the wire.

use std::sync::LazyLock;

use crate::support::{Answer, Connection, SseEvent, SseParser, ask, start};
use async_openai::types::responses::{Response, ResponseStreamEvent};
use conform_mock_server::script::{
    Call, CallPayload, Item, LocalShell, Part, Reply, Script, SearchResult, Usage, WebSearch,
};
use conform_mock_server::server::MockServer;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// The whole stream of the only turn of a script.
async fn stream(turn: &str, request: &Value) -> Answer {
    let server = start(&format!("turns:\n{turn}")).await;
    let answer = Connection::open(&server).await.post(&ask(request)).await;
    server.assert_finished();
    answer
}

fn shown(answer: &Answer) -> String {
    format!("{}{}", answer.head.replace("\r\n", "\n"), answer.text())
}

#[tokio::test]
async fn text_comes_in_pieces_between_whole_responses() {
    let turn = "  - say: Grüße from the model, which has a little more to say than one piece.";
    assert_snapshot!(shown(&stream(turn, &json!({"tools": null})).await));
}

#[tokio::test]
async fn a_function_call_streams_its_arguments() {
    let turn = "  - call: {name: f, arguments: {command: [ls, -la], workdir: /somewhere/else}}";
    assert_snapshot!(shown(
        &stream(turn, &json!({"tools": [{"type": "function", "name": "f"}]})).await
    ));
}

#[tokio::test]
async fn a_custom_call_streams_its_input() {
    let turn =
        "  - call: {name: patch, input: \"*** Begin Patch\\n*** End Patch\\n\", call_id: call_x}";
    assert_snapshot!(shown(
        &stream(turn, &json!({"tools": [{"type": "custom", "name": "patch"}]})).await
    ));
}

#[tokio::test]
async fn reasoning_streams_its_summary_and_ends_with_its_opaque_content() {
    let turn = "  - items:
      - reasoning: {summary: [Looking around, Found it], encrypted_content: gAAAA}
      - reasoning: {}
      - {say: Nearly., phase: commentary}
    usage: {input: 1000, cached: 900, output: 50, reasoning: 40}
    headers: {x-turn-state: abc, x-request-id: req_scripted}";
    assert_snapshot!(shown(&stream(turn, &json!({"tools": []})).await));
}

#[tokio::test]
async fn parallel_calls_follow_each_other() {
    let turn = "  - calls:
      - {name: f, arguments: {}}
      - {name: spawn, namespace: agents, raw_arguments: '{broken', offered: false}
      - {name: g, raw_arguments: '', offered: true}";
    assert_snapshot!(shown(&stream(turn, &json!({})).await));
}

#[tokio::test]
async fn without_stream_the_reply_is_one_object_that_echoes_the_request() {
    let answer = stream(
        "  - say: Hello\nvalidation: {off: [R29]}",
        &json!({
            "stream": false,
            "instructions": "Be brief.",
            "previous_response_id": "resp_0",
            "tool_choice": "required",
            "parallel_tool_calls": false,
            "max_output_tokens": 64,
            "reasoning": {"effort": "low", "context": "all_turns"},
            "text": {"verbosity": "low"},
            "metadata": {"k": "v"},
            "service_tier": "auto",
            "prompt_cache_key": "key",
            "store": false,
            "temperature": 0.5,
            "unheard_of": 1,
        }),
    )
    .await;
    assert_snapshot!(format!(
        "{}{}",
        answer.head.replace("\r\n", "\n"),
        serde_json::to_string_pretty(&answer.json()).unwrap()
    ));
    let _typed: Response = serde_json::from_slice(&answer.body).unwrap();
}

#[tokio::test]
async fn a_response_holds_every_field_that_open_responses_requires() {
    let required = [
        "id",
        "object",
        "created_at",
        "completed_at",
        "status",
        "incomplete_details",
        "model",
        "previous_response_id",
        "instructions",
        "output",
        "error",
        "tools",
        "tool_choice",
        "truncation",
        "parallel_tool_calls",
        "text",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "temperature",
        "reasoning",
        "usage",
        "max_output_tokens",
        "max_tool_calls",
        "store",
        "background",
        "service_tier",
        "metadata",
        "safety_identifier",
        "prompt_cache_key",
    ];
    let events = stream("  - say: Hello", &json!({})).await.events();
    let snapshots: Vec<_> = events.iter().filter_map(|event| event.get("response")).collect();
    assert_eq!(snapshots.len(), 3);
    for snapshot in snapshots {
        for field in required {
            assert!(snapshot.get(field).is_some(), "{field} in {snapshot}");
        }
        for field in ["description", "parameters", "strict"] {
            assert!(snapshot["tools"][0].get(field).is_some(), "{field} of a tool in {snapshot}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_is_cut_short_is_incomplete() {
    for (ending, reason) in [("length", "max_output_tokens"), ("filtered", "content_filter")] {
        let turn = format!("  - items: [{{say: Whole}}, {{say: Half a}}]\n    ending: {ending}");
        let answer = stream(&turn, &json!({})).await;
        let last = answer.events().pop().unwrap();
        assert_eq!(last["type"], "response.incomplete");
        let response = &last["response"];
        assert_eq!(response["status"], "incomplete");
        assert_eq!(response["completed_at"], Value::Null);
        assert_eq!(response["incomplete_details"], json!({"reason": reason}));
        let status: Vec<_> = response["output"].as_array().unwrap().iter().collect();
        assert_eq!([&status[0]["status"], &status[1]["status"]], ["completed", "incomplete"]);
        let whole = stream(&turn, &json!({"stream": false})).await;
        assert_eq!(whole.json()["output"], response["output"]);
        let _typed: Response = serde_json::from_slice(&whole.body).unwrap();
    }
}

#[tokio::test]
async fn the_same_script_and_requests_give_the_same_bytes() {
    async fn run() -> Vec<Answer> {
        let server = start(
            "purposes: [{name: title, all: [{header: x-title}]}]
turns:
  - call: {name: f, arguments: {}}
  - say: Hello
  - {purpose: title, say: A title}",
        )
        .await;
        let mut connection = Connection::open(&server).await;
        let body = ask(&json!({})).to_string();
        let mut answers = vec![connection.post(&ask(&json!({}))).await];
        for headers in [&[("x-title", "")][..], &[("x-title", "")], &[], &[]] {
            answers.push(connection.request("POST", "/responses", headers, body.as_bytes()).await);
        }
        answers
    }
    let (first, second) = (run().await, run().await);
    assert_eq!(first.len(), 5);
    assert_eq!(first, second);
}

#[tokio::test]
async fn a_side_request_in_between_changes_no_other_reply() {
    async fn second_reply(with_side_request: bool) -> Answer {
        let server = start(
            "purposes: [{name: title, all: [{header: x-title}]}]
turns: [{call: {name: f, arguments: {}}}, {say: Hello}]",
        )
        .await;
        let mut connection = Connection::open(&server).await;
        connection.post(&ask(&json!({}))).await;
        if with_side_request {
            let body = ask(&json!({})).to_string();
            connection.request("POST", "/responses", &[("x-title", "")], body.as_bytes()).await;
        }
        connection.post(&ask(&json!({}))).await
    }
    assert_eq!(second_reply(false).await, second_reply(true).await);
}

pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

pub(crate) fn any_item() -> impl Strategy<Value = Item> {
    let text = || any::<String>();
    let message = (text(), proptest::option::of("commentary|final_answer"))
        .prop_map(|(text, phase)| Item::Message { text, phase });
    let texts = || proptest::collection::vec(text(), 0..3);
    let reasoning = (texts(), texts(), proptest::option::of(text())).prop_map(
        |(summary, content, encrypted_content)| Item::Reasoning {
            summary,
            content,
            encrypted_content,
        },
    );
    let arguments = proptest::collection::hash_map(text(), text(), 0..3).prop_map(|map| {
        let map: Map<String, Value> = map.into_iter().map(|(k, v)| (k, Value::from(v))).collect();
        CallPayload::Arguments(map)
    });
    let payload = prop_oneof![
        arguments,
        text().prop_map(CallPayload::RawArguments),
        text().prop_map(CallPayload::Input),
    ];
    let optional = || proptest::option::of("[a-z]{1,8}");
    let call = ("[a-z_]{1,12}", optional(), payload, optional()).prop_map(
        |(name, namespace, payload, call_id)| {
            Item::Call(Call { name, namespace, payload, call_id, must_be_offered: false })
        },
    );
    prop_oneof![message, reasoning, call]
}

/// Any item, those that only this wire has among them.
fn any_item_of_this_wire() -> impl Strategy<Value = Item> {
    let text = || any::<String>();
    let part = prop_oneof![
        text().prop_map(Part::Refusal),
        (text(), any::<bool>()).prop_map(|(text, noted)| {
            let note = json!({
                "type": "url_citation",
                "url": "https://example.com/",
                "title": text,
                "start_index": 0,
                "end_index": 1,
            });
            Part::Text { text, annotations: if noted { vec![note] } else { Vec::new() } }
        }),
    ];
    let parts =
        proptest::collection::vec(part, 0..3).prop_map(|parts| Item::Parts { parts, phase: None });
    let shell = proptest::collection::vec(text(), 1..3).prop_map(|command| {
        Item::LocalShell(LocalShell { command, more: Map::new(), call_id: None })
    });
    let search = (text(), text()).prop_map(|(query, url)| {
        let results = vec![SearchResult { url, title: String::new() }];
        Item::WebSearch(WebSearch { query, results })
    });
    let compaction = proptest::option::of(text())
        .prop_map(|encrypted_content| Item::Compaction { encrypted_content });
    prop_oneof![4 => any_item(), 2 => parts, 1 => shell, 1 => search, 1 => compaction]
}

/// The items as the deltas alone tell them, which is how a client shows them.
fn from_deltas(events: &[Value]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for event in events {
        if event["type"] == "response.output_item.added" {
            texts.push(String::new());
        }
        if let Some(delta) = event["delta"].as_str() {
            assert!(!delta.is_empty() && delta.chars().count() <= 24, "{delta:?}");
            let index = usize::try_from(event["output_index"].as_u64().unwrap()).unwrap();
            texts[index].push_str(delta);
        }
    }
    texts
}

/// The items as the script has them.
fn from_script(items: &[Item]) -> Vec<String> {
    let text = |item: &Item| match item {
        Item::Message { text, .. } => text.clone(),
        Item::Reasoning { summary, content, .. } => [summary.concat(), content.concat()].concat(),
        Item::Parts { parts, .. } => {
            let text = |part: &Part| match part {
                Part::Text { text, .. } | Part::Refusal(text) => text.clone(),
            };
            parts.iter().map(text).collect()
        }
        Item::Call(call) => match &call.payload {
            CallPayload::Arguments(arguments) => serde_json::to_string(arguments).unwrap(),
            CallPayload::RawArguments(text) | CallPayload::Input(text) => text.clone(),
        },
        Item::LocalShell(_) | Item::WebSearch(_) | Item::Compaction { .. } | Item::Raw(_) => {
            String::new()
        }
    };
    items.iter().map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any reply gives a stream that any chunking parses back to the same items, that is numbered
    /// without a gap, and that another implementation's types can read.
    #[test]
    fn any_reply_can_be_read_back_from_any_pieces(
        items in proptest::collection::vec(any_item_of_this_wire(), 0..4),
        usage in (0..1000_u64, 0..1000_u64),
        cuts in proptest::collection::vec(1..40_usize, 1..20),
    ) {
        let usage = Usage { input: usage.0, output: usage.1, ..Usage::default() };
        let reply = Reply { usage, ..Reply::of(items.clone()) };
        let answer = RUNTIME.block_on(async {
            let server = MockServer::builder(Script::of([reply])).start().await.unwrap();
            Connection::open(&server).await.post(&ask(&json!({}))).await
        });

        let mut parser = SseParser::default();
        let mut events = Vec::new();
        let mut rest = answer.body.as_slice();
        for cut in cuts.iter().cycle() {
            let (piece, after) = rest.split_at(rest.len().min(*cut));
            events.extend(parser.feed(piece));
            rest = after;
            if rest.is_empty() { break; }
        }
        prop_assert!(parser.is_at_rest());
        prop_assert_eq!(events.len(), answer.chunks.len(), "one chunk an event");

        for (number, event) in events.iter().enumerate() {
            let data = event.data();
            prop_assert_eq!(data["type"].as_str(), Some(event.event.as_str()));
            prop_assert_eq!(data["sequence_number"].as_u64(), Some(number as u64));
            let typed = serde_json::from_str::<ResponseStreamEvent>(&event.data);
            prop_assert!(typed.is_ok(), "{:?} of {}", typed, event.data);
        }
        let events: Vec<Value> = events.iter().map(SseEvent::data).collect();
        prop_assert_eq!(from_deltas(&events), from_script(&items));
        let done: Vec<&Value> = events
            .iter()
            .filter(|event| event["type"] == "response.output_item.done")
            .map(|event| &event["item"])
            .collect();
        let output = answer.output();
        prop_assert_eq!(done, output.as_array().unwrap().iter().collect::<Vec<_>>());
    }
}
