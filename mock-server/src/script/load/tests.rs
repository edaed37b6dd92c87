//! Scripts as they are read, and what is said about broken ones.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::script::*;

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
    let [refused, let_in] = script.connections.as_slice() else { panic!("two connections") };
    assert_eq!(refused.handshake.refusal.as_ref().unwrap().status, 426);
    assert_eq!(let_in.handshake.gate.as_deref(), Some("let-in"));
    assert_eq!(let_in.handshake.compression, Compression::Declined);
    let places: Vec<_> =
        let_in.faults.iter().map(|fault| (fault.response, fault.after_event)).collect();
    let reply = FaultTarget::Reply;
    assert_eq!(places, [(reply(1), 2), (reply(2), 0), (reply(3), 4)]);
}

#[test]
fn the_example_of_faults_is_read_whole() {
    let script = read(include_str!("faults.yaml")).unwrap();
    let status = &script.turns[0].faults[0];
    assert_eq!(status.attempts, Attempts::First(2));
    let expected = StatusFault {
        code: 429,
        body: ErrorBody::Error {
            kind: None,
            code: Some("rate_limit_exceeded".to_owned()),
            message: None,
            param: None,
        },
        headers: vec![("retry-after".to_owned(), "1".to_owned())],
    };
    assert_eq!(status.fault, Fault { status: Some(expected), ..Fault::default() });

    let rules = &script.turns[1].faults;
    let attempts: Vec<_> = rules.iter().map(|rule| rule.attempts.clone()).collect();
    assert_eq!(attempts, [1, 2, 3].map(|attempt| Attempts::Only(vec![attempt])));
    let cut = Cut { at: Point::After(Event::Number(6)), how: CutHow::Reset };
    assert_eq!(rules[0].fault, Fault { cut: Some(cut), ..Fault::default() });
    let before_done = Point::Before(Event::Named("response.output_text.done".to_owned()));
    assert_eq!(rules[1].fault.pauses, [(before_done, Pause::Forever)]);
    assert!(rules[0].fault.ends_early() && rules[1].fault.ends_early());
    let malformed = Edit::Malformed { event: Event::FromEnd(1), data: None };
    assert_eq!(rules[2].fault.edits, [malformed]);

    let framed = &script.turns[2].faults[0];
    assert_eq!(framed.attempts, Attempts::Every);
    assert_eq!(
        framed.fault.framing,
        Framing {
            line_ending: LineEnding::CrLf,
            two_data_lines: true,
            split: Split::Characters,
            ..Framing::default()
        }
    );
    let what = Inserted::Comment { text: " keep-alive".to_owned(), blank_line: true };
    assert_eq!(
        framed.fault.edits,
        [Edit::Insert(Insert { before: None, what, times: 2, every: None })]
    );

    let slow = &script.turns[3].faults[0].fault;
    let ms = Duration::from_millis;
    assert_eq!(
        slow.pauses,
        [
            (Point::Start, Pause::For(ms(250))),
            (Point::Before(Event::Number(4)), Pause::Gate("go-on".to_owned())),
        ]
    );
    assert_eq!(slow.pace, Some(Pace::Event(ms(10))));

    let reply = &script.turns[4].reply;
    assert!(matches!(&reply.items[0], Item::Reasoning { content, .. } if content.len() == 1));
    assert!(matches!(&reply.items[1], Item::WebSearch(search) if search.results.len() == 1));
    assert!(matches!(&reply.items[2], Item::Parts { parts, phase: Some(_) } if parts.len() == 2));
    assert!(matches!(&reply.items[3], Item::LocalShell(call) if call.command == ["ls", "-a"]));
    assert!(matches!(&reply.items[4], Item::Raw(_)));
    assert!(matches!(&reply.ending, Ending::Failed(failure) if failure.unfinished));
    assert_eq!(reply.extra_events[0].before, Event::FromEnd(1));
}

#[test]
fn places_and_endings_have_several_forms() {
    let fault = |text: &str| {
        let script = read(&format!("turns: [{{say: x, fault: {text}}}]")).unwrap();
        script.turns[0].faults[0].fault.clone()
    };
    let cut_at = |text: &str| fault(&format!("{{cut: {text}}}")).cut.unwrap().at;
    assert_eq!(cut_at("{}"), Point::Start);
    assert_eq!(cut_at("{after_event: 0}"), Point::AfterHead);
    assert_eq!(cut_at("{before_event: -2}"), Point::Before(Event::FromEnd(2)));
    assert_eq!(cut_at("{after_byte: 7}"), Point::AfterByte(7));
    let edits = fault(
        "{drop: [1, -1], repeat: {event: 2, times: 3}, swap: [1, 2], skip_numbers: {from: 3}, \
         terminator: none, malformed: [{event: 1, data: ''}, 2]}",
    )
    .edits;
    let number = Event::Number;
    assert_eq!(
        edits,
        [
            Edit::SkipNumbers { from: number(3), by: 1 },
            Edit::Malformed { event: number(1), data: Some(String::new()) },
            Edit::Malformed { event: number(2), data: None },
            Edit::Repeat { event: number(2), times: 3 },
            Edit::Swap(number(1), number(2)),
            Edit::Drop(number(1)),
            Edit::Drop(Event::FromEnd(1)),
            Edit::Terminator(false),
        ]
    );

    let ending = |text: &str| {
        let script = read(&format!("turns: [{{say: x, ending: {text}}}]")).unwrap();
        script.turns[0].reply.ending.clone()
    };
    assert_eq!(ending("filtered"), Ending::Filtered);
    assert_eq!(ending("{reason: steered}"), Ending::Reason("steered".to_owned()));
    assert_eq!(ending("{stop_sequence: END}"), Ending::StopSequence("END".to_owned()));
    let Ending::Error { failure, form } = ending("{error: {form: nested, status: 503}}") else {
        panic!("an error")
    };
    assert_eq!((failure.code.as_str(), failure.unfinished), ("server_error", false));
    assert_eq!(form, ErrorForm::Nested { status: Some(503) });
}

#[test]
fn broken_faults_are_all_reported() {
    assert_snapshot!(refused(
        "\
turns:
  - say: x
    fault: {first: 0, attempts: [], cut: {how: end}, stal: {}}
  - say: x
    fault: {status: 200}
  - say: x
    fault: {status: {code: 500, text: a, json: b}, drop: 1}
  - say: x
    fault: {cut: {after_event: 1, after_byte: 2, how: hard}, delay: soon}
  - say: x
    fault: {drop: 0, swap: [1], repeat: {event: 1, times: 0}, insert: {before_event: 1}}
  - say: x
    fault: {pace: {byte_ms: 1}, split: crlf}
  - say: x
    fault: [{split: {every: 0}}, {first: 1, line_ending: crfl}]
  - say: x
    fault: {}
  - say: x
    fault: {status: {code: 429, headers: {content-length: '1'}, retry_after: []}, content_type: \"a\\nb\"}
"
    ));
}

#[test]
fn broken_items_and_endings_are_all_reported() {
    assert_snapshot!(refused(
        "\
turns:
  - items:
      - parts: [{text: a, refusal: b}, {annotations: []}]
      - web_search: {results: [{title: t}]}
      - local_shell: {command: ls, cwd: /}
      - raw: {id: x}
      - compaction: opaque
    ending: done
  - say: x
    ending: {failed: {unfinished: soon}, error: {}}
  - say: x
    ending: {error: {status: 99}}
    end_turn: maybe
    extra_events: [{before_event: 0, type: keepalive}, {fields: []}]
"
    ));
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

#[test]
fn connections_that_mean_nothing_are_refused() {
    assert_snapshot!(refused(
        "\
turns: []
connections:
  - handshake: {status: 200, code: x}
  - handshake: {code: x, headers: {sec-websocket-accept: a}}
  - handshake: {status: 426}
    fault: {drop: {after_event: 0}}
  - handshake: {status: 426, compression: true}
  - handshake: {compression: deflate}
  - fault:
      - {close: {after_event: 1, code: 1006}}
      - {close: {after_event: 1}}
      - {drop: {}}
      - {drop: {response: 0, after_event: 1}}
      - {drop: {response: warmup, after_event: 1}}
      - {send: {after_event: 1}}
      - {hold: {after_event: 1}, ping: {after_event: 1}}
      - {binray: {after_event: 1}}
      - {error: {after_event: -1, status: 600, message: 3}}
"
    ));
}
