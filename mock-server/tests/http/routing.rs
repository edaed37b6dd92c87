//! Which reply a request gets.

use crate::support::{Answer, Connection, ask, model, start};
use conform_mock_server::journal::{Exchange, Outcome};
use conform_mock_server::script::{Purpose, Reply, Script, WhenExhausted};
use conform_mock_server::server::{Mismatch, MockServer};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const PURPOSES: &str = "
purposes:
  - {name: title, all: [{header: x-kind, contains: title}, {pointer: /model, equals: test-model}]}
  - {name: summary, all: [{pointer: /instructions, contains: Summarise}]}
  - {name: never, all: [{header: x-kind, contains: title}]}
";

async fn title(connection: &mut Connection) -> Answer {
    let body = ask(&json!({})).to_string();
    connection.request("POST", "/responses", &[("X-Kind", "a title")], body.as_bytes()).await
}

fn outcomes(exchanges: &[Exchange]) -> Vec<&Outcome> {
    exchanges.iter().map(|exchange| &model(exchange).outcome).collect()
}

fn labels(exchanges: &[Exchange]) -> Vec<&str> {
    exchanges.iter().map(|exchange| label(&model(exchange).outcome)).collect()
}

fn label(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Served(served) => &served.label,
        other => panic!("not served: {other:?}"),
    }
}

fn assert_mismatch(answer: &Answer, message: &str) {
    assert_eq!(answer.status(), 400);
    assert_eq!(
        answer.json(),
        json!({"error": {
            "message": message,
            "type": "invalid_request_error",
            "param": null,
            "code": "conform_script_mismatch",
        }})
    );
}

#[tokio::test]
async fn each_purpose_has_a_queue_of_its_own() {
    let server = start(&format!(
        "{PURPOSES}
turns:
  - {{say: first}}
  - {{purpose: title, say: a title}}
  - {{say: second}}"
    ))
    .await;
    let mut connection = Connection::open(&server).await;

    assert_eq!(connection.post(&ask(&json!({}))).await.said(), "first");
    assert_eq!(server.unused_turns(), [(1, "turn 2".to_owned()), (2, "turn 3".to_owned())]);
    assert_eq!(connection.post(&ask(&json!({}))).await.said(), "second");
    assert_eq!(title(&mut connection).await.said(), "a title");

    let exchanges = server.journal().snapshot();
    assert_eq!(labels(&exchanges), ["turn 1", "turn 3", "turn 2"]);
    let purposes: Vec<_> = exchanges.iter().map(|entry| model(entry).purpose.as_str()).collect();
    // The first rule that fits wins, although a later one fits too.
    assert_eq!(purposes, ["main", "main", "title"]);
    server.assert_finished();
}

#[tokio::test]
async fn a_side_request_without_a_turn_gets_its_default_and_never_a_main_turn() {
    let server =
        start(&format!("{PURPOSES}\nside_replies: {{title: T}}\nturns: [{{say: main}}]")).await;
    let mut connection = Connection::open(&server).await;

    let first = title(&mut connection).await;
    assert_eq!(first.said(), "T");
    let summary = connection.post(&ask(&json!({"instructions": "Summarise this."}))).await;
    assert_eq!(summary.said(), "Done.");
    let second = title(&mut connection).await;
    let ids = [first, second, summary].map(|answer| answer.output()[0]["id"].clone());
    assert_eq!(ids, ["msg_s1n1_1", "msg_s1n2_1", "msg_s2n1_1"]);

    let exchanges = server.journal().snapshot();
    assert_eq!(outcomes(&exchanges), [&Outcome::SideDefault; 3]);
    assert_eq!(
        server.verify().unwrap_err().mismatches,
        [Mismatch::Unused { turn: 0, label: "turn 1".to_owned() }]
    );
}

#[tokio::test]
async fn a_main_request_without_a_turn_is_refused() {
    let server = start("turns: [{say: only}]").await;
    let mut connection = Connection::open(&server).await;
    connection.post(&ask(&json!({}))).await;
    let answer = connection.post(&ask(&json!({}))).await;

    assert_mismatch(
        &answer,
        "the script has no turn left for this request; add a turn, or a purpose rule if it is a \
         side request",
    );
    assert_eq!(*outcomes(&server.journal().snapshot())[1], Outcome::Unscripted);
    assert_eq!(server.verify().unwrap_err().mismatches, [Mismatch::Unscripted { exchange: 2 }]);
}

#[tokio::test]
async fn the_last_main_turn_repeats_with_new_ids_if_the_script_says_so() {
    let replies = [Reply::say("once"), Reply::say("again")];
    let script = Script { when_exhausted: WhenExhausted::RepeatLast, ..Script::of(replies) };
    let server = MockServer::builder(script).start().await.unwrap();
    let mut connection = Connection::open(&server).await;
    let mut ids = Vec::new();
    for text in ["once", "again", "again", "again"] {
        let answer = connection.post(&ask(&json!({}))).await;
        assert_eq!(answer.said(), text);
        ids.push(answer.events()[0]["response"]["id"].clone());
    }
    assert_eq!(ids, ["resp_1", "resp_2", "resp_2r1", "resp_2r2"]);
    server.assert_finished();
}

#[tokio::test]
async fn a_request_that_breaks_a_guard_is_refused_and_the_turn_stays() {
    let server = start(
        "turns:
  - name: answer
    request: [{pointer: /input/0/output, contains: ok}, {body_contains: 'a \"quoted\"', not: true}]
    say: Good.",
    )
    .await;
    let mut connection = Connection::open(&server).await;
    let output =
        |text: &str| ask(&json!({"input": [{"type": "function_call_output", "output": text}]}));

    let refused = connection.post(&output("failed")).await;
    let reason = "the request breaks its guard: `/input/0/output` contains \"ok\"";
    assert_mismatch(&refused, &format!("`answer` is next, but {reason}"));
    // In the body's bytes the quotes are escaped; a condition speaks of the text.
    let refused = connection.post(&output("ok, a \"quoted\" word")).await;
    let second = "the request breaks its guard: not that the body contains \"a \\\"quoted\\\"\"";
    assert_mismatch(&refused, &format!("`answer` is next, but {second}"));
    assert_eq!(connection.post(&output("ok")).await.said(), "Good.");

    let exchanges = server.journal().snapshot();
    let outcomes = outcomes(&exchanges);
    let failed = |reason: &str| Outcome::GuardFailed {
        turn: "answer".to_owned(),
        reason: reason.to_owned(),
    };
    assert_eq!(*outcomes[0], failed(reason));
    assert_eq!(*outcomes[1], failed(second));
    assert!(matches!(outcomes[2], Outcome::Served(_)));
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_not_offered_is_withheld() {
    let server = start(
        "turns:
  - calls:
      - {name: free, arguments: {}, offered: false}
      - {name: f, namespace: group, arguments: {}}",
    )
    .await;
    let mut connection = Connection::open(&server).await;
    let function = |name: &str| json!({"type": "function", "name": name});
    let group = |tools: Value| json!({"type": "namespace", "name": "group", "tools": tools});
    let with = |tools: Value| ask(&json!({"tools": tools}));

    let refused =
        connection.post(&with(json!([function("f"), group(json!([function("g")]))]))).await;
    assert_mismatch(&refused, "`turn 1` calls `group.f`, but the request offers f, group.g");
    let refused = connection.post(&with(json!([]))).await;
    assert_mismatch(&refused, "`turn 1` calls `group.f`, but the request offers no tool");
    assert_eq!(server.unused_turns().len(), 1);
    let mismatch = server.verify().unwrap_err().mismatches[0].to_string();
    assert_eq!(mismatch, "request 1 did not get `turn 1`: it does not offer `group.f`");

    // Tools can also be offered by an input item.
    let item = json!({"type": "additional_tools", "role": "developer", "tools": [group(json!([function("f")]))]});
    let answer = connection.post(&ask(&json!({"tools": null, "input": [item]}))).await;
    assert_eq!(answer.output()[1]["name"], "f");
    let exchanges = server.journal().snapshot();
    let Outcome::NotOffered { tool, offered, .. } = outcomes(&exchanges)[0] else {
        panic!("not withheld")
    };
    assert_eq!(
        (tool.as_str(), offered.as_slice()),
        ("group.f", &["f".to_owned(), "group.g".to_owned()][..])
    );
    let Outcome::Served(given) = outcomes(&exchanges)[2] else { panic!("not served") };
    assert_eq!(given.call_ids, ["call_1_1", "call_1_2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simultaneous_requests_never_take_the_same_turn() {
    let count = 64;
    let replies = (0..count).map(|index| Reply::say(format!("reply {index}")));
    let server = MockServer::builder(Script::of(replies)).start().await.unwrap();
    let mut clients = JoinSet::new();
    for _ in 0..count {
        let mut connection = Connection::open(&server).await;
        clients.spawn(async move { connection.post(&ask(&json!({}))).await.said() });
    }
    let mut said = clients.join_all().await;
    said.sort();
    let mut wanted: Vec<String> = (0..count).map(|index| format!("reply {index}")).collect();
    wanted.sort();
    assert_eq!(said, wanted);
    // The journal tells the turns in the order in which they were taken.
    let exchanges = server.journal().snapshot();
    let taken: Vec<_> = labels(&exchanges).into_iter().map(str::to_owned).collect();
    let in_order: Vec<_> = (1..=count).map(|number| format!("turn {number}")).collect();
    assert_eq!(taken, in_order);
    server.assert_finished();
}

#[tokio::test]
async fn purposes_of_hand_made_scripts_work_the_same() {
    let mut script = Script::of([Reply::say("main")]);
    script.side_replies.insert(Purpose::new("unused"), Reply::say("never"));
    let server = MockServer::builder(script).start().await.unwrap();
    let answer = Connection::open(&server).await.post(&ask(&json!({}))).await;
    assert_eq!(answer.said(), "main");
}
