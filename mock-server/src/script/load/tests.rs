//! Scripts as they are read, and what is said about broken ones.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::script::{CallPayload, Condition, Ending, Item, Purpose};

fn read(text: &str) -> Result<Script, String> {
    load(&Source::new("script.yaml", text)).map_err(|found| {
        assert!(!found.is_empty(), "a script that is refused has a reason");
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    })
}

fn refused(text: &str) -> String {
    read(text).expect_err("the script is broken")
}

#[test]
fn the_example_of_the_documentation_is_read_whole() {
    let script = read(include_str!("example.yaml")).unwrap();

    assert_eq!(script.purposes.len(), 1);
    assert_eq!(script.side_replies[&Purpose::new("title")].items, [Item::message("A fine thread")]);
    let labels: Vec<_> = script.turns.iter().map(|turn| turn.label.as_str()).collect();
    assert_eq!(labels, ["turn 1", "patch", "turn 3", "turn 4"]);
    assert_eq!(script.turns[2].purpose, Purpose::new("title"));
    let patch = &script.turns[1];
    assert_eq!(patch.gate.as_deref(), Some("approval-raised"));
    let holds: Vec<_> = patch.guards.iter().map(|guard| guard.holds).collect();
    assert_eq!(holds, [true, false, true, true]);
    let pointer = "/input/2/type".to_owned();
    let value = json!("function_call_output");
    assert_eq!(patch.guards[0].condition, Condition::Equals { pointer, value });
    assert_eq!(patch.reply.headers, [("x-turn-state".to_owned(), "abc".to_owned())]);
    let Item::Call(spawn) = &patch.reply.items[1] else { panic!("a call") };
    assert_eq!(spawn.namespace.as_deref(), Some("agents"));
    assert_eq!(spawn.payload, CallPayload::RawArguments("{".to_owned()));
    assert!(!spawn.must_be_offered);
    assert_eq!(script.turns[3].reply.usage.total(), 250_030);
    assert_eq!(script.turns[3].reply.ending, Ending::Length);
    assert_eq!(script.pages["docs.html"].content_type, "text/html; charset=utf-8");
    assert_eq!(script.when_exhausted, WhenExhausted::Refuse);
}

#[test]
fn arguments_keep_their_order_and_types() {
    let script = read("turns: [{call: {name: f, arguments: {z: 1, a: [1.5, ~, true, '2']}}}]");
    let Item::Call(call) = &script.unwrap().turns[0].reply.items[0] else { panic!("a call") };
    let CallPayload::Arguments(arguments) = &call.payload else { panic!("arguments") };
    let text = serde_json::to_string(arguments).unwrap();
    assert_eq!(text, r#"{"z":1,"a":[1.5,null,true,"2"]}"#);
}

#[test]
fn unknown_keys_are_named_with_the_nearest_right_one() {
    assert_snapshot!(refused(
        "\
turns:
  - sya: Hello
  - say: Hello
    gaet: g
  - call: {name: f, argumnets: {}}
purpose: []
"
    ));
}

#[test]
fn wrong_types_are_all_reported_at_once() {
    assert_snapshot!(refused(
        "\
turns:
  - say: [Hello]
    gate: 3
  - call: shell
  - calls: {name: f}
  - say: Hello
    usage: {input: many, output: -1}
    headers: [a]
pages: text
when_exhausted: repeat
"
    ));
}

#[test]
fn things_that_cannot_stand_together_are_refused() {
    assert_snapshot!(refused(
        "\
turns:
  - say: Hello
    call: {name: f, arguments: {}}
  - call: {name: f, arguments: {}, input: text}
  - say: Hello
    request:
      - {header: x, body_contains: y}
      - {pointer: /a, equals: 1, contains: a}
      - {pointer: /a}
  - name: twice
    say: Hello
  - name: twice
    say: Hello
"
    ));
}

#[test]
fn values_that_mean_nothing_are_refused() {
    assert_snapshot!(refused(
        "\
purposes:
  - name: title
    all: []
  - all: [{pointer: input.0, equals: 1, not: true}]
turns:
  - purpose: titel
    say: Hello
  - calls: []
  - call: {name: '', arguments: {}}
  - say: Hello
    usage: {input: 10, cached: 11, output: 1, reasoning: 2}
    headers: {content-length: '3', 'a b': c, x: \"a\\nb\"}
    request:
      - {pointer: /a, absent: false}
      - {header: 'a b'}
      - {body_contains: ''}
side_replies:
  main: no
  summary: A summary
pages:
  a page: text
  a: {content_type: text/plain}
"
    ));
}

#[test]
fn a_script_without_turns_or_of_another_shape_is_refused() {
    assert_snapshot!(
        ["", "[]", "pages: {}", "turns: [a", "turns: []\nturns: []"].map(refused).join("---\n")
    );
}
