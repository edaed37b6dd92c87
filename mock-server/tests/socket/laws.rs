//! What holds for any reply.

use conform_mock_server::script::{
    Call, CallPayload, Connection, FaultTarget, Item, Reply, Script, SocketFault, SocketFaultKind,
};
use conform_mock_server::server::MockServer;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{create, effective_input, models, open, user};

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,60}", "\\PC{0,40}", Just("a\"b\\c\n\u{1}é😀".to_owned())]
}

fn item() -> impl Strategy<Value = Item> {
    let call = |payload| Item::Call(Call { must_be_offered: false, ..Call::new("tool", payload) });
    prop_oneof![
        text().prop_map(Item::message),
        text().prop_map(move |text| call(CallPayload::RawArguments(text))),
        text().prop_map(move |text| call(CallPayload::Input(text))),
        (proptest::collection::vec(text(), 0..3), proptest::option::of(text())).prop_map(
            |(summary, encrypted_content)| Item::Reasoning {
                summary,
                content: Vec::new(),
                encrypted_content,
            }
        ),
    ]
}

/// What an item says, whatever its ids.
fn content(item: &Item) -> Value {
    match item {
        Item::Message { text, .. } => json!(["message", text]),
        Item::Call(Call { payload: CallPayload::Input(text), .. }) => json!(["custom", text]),
        Item::Call(Call { payload: CallPayload::RawArguments(text), .. }) => json!(["call", text]),
        Item::Reasoning { summary, encrypted_content, .. } => {
            json!(["reasoning", summary, encrypted_content])
        }
        _ => panic!("not made here"),
    }
}

fn content_of(item: &Value) -> Value {
    match item["type"].as_str().unwrap() {
        "message" => json!(["message", item["content"][0]["text"]]),
        "custom_tool_call" => json!(["custom", item["input"]]),
        "function_call" => json!(["call", item["arguments"]]),
        _ => {
            let summary: Vec<_> =
                item["summary"].as_array().unwrap().iter().map(|part| &part["text"]).collect();
            json!(["reasoning", summary, item.get("encrypted_content")])
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The frames of a script parse back to the script's items, in each event that shows them
    /// whole and along the chain, whatever goes between them that leaves them whole.
    #[test]
    fn frames_parse_back_to_the_items(
        items in proptest::collection::vec(item(), 0..4),
        pings in proptest::collection::vec(0..4_usize, 0..3),
        stream_id in proptest::option::of(text()),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let pings = pings.iter().map(|after_event| SocketFault {
                response: FaultTarget::Reply(1),
                after_event: *after_event,
                kind: SocketFaultKind::Ping,
            });
            let connection = Connection { faults: pings.collect(), ..Connection::default() };
            let replies = [Reply::of(items.clone()), Reply::say("end")];
            let script = Script { connections: vec![connection], ..Script::of(replies) };
            let server = MockServer::builder(script).start().await.unwrap();
            let mut socket = open(&server).await;
            socket.send(&create(&json!({"stream_id": stream_id}))).await;
            let events = socket.events().await;

            let wanted: Vec<_> = items.iter().map(content).collect();
            let done: Vec<_> = events
                .iter()
                .filter(|event| event["type"] == "response.output_item.done")
                .map(|event| content_of(&event["item"]))
                .collect();
            assert_eq!(done, wanted);
            let response = &events.last().unwrap()["response"];
            let output: Vec<_> =
                response["output"].as_array().unwrap().iter().map(content_of).collect();
            assert_eq!(output, wanted);
            for (number, event) in events.iter().enumerate() {
                assert_eq!(event["sequence_number"], number);
                assert_eq!(event.get("stream_id").cloned(), stream_id.clone().map(Value::from));
            }

            socket.response(&json!({"previous_response_id": response["id"], "input": []})).await;
            let mut history = vec![user("Hello")];
            history.extend(response["output"].as_array().unwrap().clone());
            assert_eq!(effective_input(&models(&server)[1]), history);
        });
    }
}
