use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::document::Source;
use crate::script::{Connection, LocalShell, Refusal, WebSearch, load};

fn reloaded(reply: &Reply) -> Reply {
    let text = format!("turns:\n{}", turn_of(reply));
    let mut script = load(&Source::new("written", text.clone())).unwrap_or_else(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", problems.join("\n"))
    });
    script.turns.remove(0).reply
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            map(inner).prop_map(Value::Object),
        ]
    })
}

fn map(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    vec((any::<String>(), value), 0..3).prop_map(|entries| entries.into_iter().collect())
}

fn payload() -> impl Strategy<Value = CallPayload> {
    prop_oneof![
        map(value()).prop_map(CallPayload::Arguments),
        any::<String>().prop_map(CallPayload::RawArguments),
        any::<String>().prop_map(CallPayload::Input),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        any::<String>().prop_map(Part::Refusal),
        (any::<String>(), vec(map(value()).prop_map(Value::Object), 0..2))
            .prop_map(|(text, annotations)| Part::Text { text, annotations }),
    ]
}

fn any_ending() -> impl Strategy<Value = Ending> {
    let failure = || {
        (any::<String>(), any::<String>(), proptest::option::of(any::<String>()), any::<bool>())
            .prop_map(|(code, message, kind, unfinished)| Failure {
                code,
                message,
                kind,
                unfinished,
            })
    };
    let form = prop_oneof![
        Just(ErrorForm::Flat),
        Just(ErrorForm::Nested { status: None }),
        (400..600_u16).prop_map(|status| ErrorForm::Nested { status: Some(status) }),
    ];
    prop_oneof![
        Just(Ending::Complete),
        Just(Ending::Length),
        Just(Ending::Filtered),
        any::<String>().prop_map(Ending::Reason),
        any::<String>().prop_map(Ending::StopSequence),
        failure().prop_map(Ending::Failed),
        (failure(), form).prop_map(|(failure, form)| Ending::Error { failure, form }),
    ]
}

fn extra_event() -> impl Strategy<Value = ExtraEvent> {
    let before = prop_oneof![
        (1..99_u64).prop_map(Event::Number),
        (1..99_u64).prop_map(Event::FromEnd),
        any::<String>().prop_map(Event::Named),
    ];
    (before, any::<String>(), map(value())).prop_map(|(before, kind, fields)| ExtraEvent {
        before,
        kind,
        fields,
    })
}

fn item() -> impl Strategy<Value = Item> {
    let optional = || proptest::option::of(any::<String>());
    let texts = || vec(any::<String>(), 0..3);
    prop_oneof![
        (any::<String>(), optional()).prop_map(|(text, phase)| Item::Message { text, phase }),
        (texts(), texts(), optional()).prop_map(|(summary, content, encrypted_content)| {
            Item::Reasoning { summary, content, encrypted_content }
        }),
        (vec(part(), 0..3), optional()).prop_map(|(parts, phase)| Item::Parts { parts, phase }),
        (texts(), optional(), value()).prop_map(|(command, call_id, value)| {
            // Null stands for a field that is absent.
            let env = (!value.is_null()).then(|| ("env".to_owned(), value));
            Item::LocalShell(LocalShell { command, more: env.into_iter().collect(), call_id })
        }),
        (any::<String>(), texts()).prop_map(|(query, urls)| {
            let title = query.clone();
            let result = |url| SearchResult { url, title: title.clone() };
            Item::WebSearch(WebSearch { results: urls.into_iter().map(result).collect(), query })
        }),
        optional().prop_map(|encrypted_content| Item::Compaction { encrypted_content }),
        (any::<String>(), map(value())).prop_map(|(kind, mut item)| {
            item.insert("type".to_owned(), kind.into());
            Item::Raw(item)
        }),
        (".+", optional(), payload(), optional(), any::<bool>()).prop_map(
            |(name, namespace, payload, call_id, must_be_offered)| {
                Item::Call(Call { name, namespace, payload, call_id, must_be_offered })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn a_written_reply_is_read_as_the_same(
        items in vec(item(), 0..4),
        ending in any_ending(),
        end_turn in any::<Option<bool>>(),
        extra_events in vec(extra_event(), 0..2),
        usage in (0_u64..9, 0_u64..9, 0_u64..9, 0_u64..9),
    ) {
        let (cached, input, reasoning, output) =
            (usage.0, usage.0 + usage.1, usage.2, usage.2 + usage.3);
        let usage = Usage { input, cached, output, reasoning };
        let headers = vec![("x-a".to_owned(), "1: \"#".to_owned())];
        let reply = Reply { items, ending, usage, headers, end_turn, extra_events };
        prop_assert_eq!(reloaded(&reply), reply);
    }
}

proptest! {
    #[test]
    fn a_written_connection_is_the_same_when_read_again(
        gate in proptest::option::of(any::<String>()),
        refusal in proptest::option::of(
            (400..=599_u16, proptest::option::of(any::<String>()), proptest::option::of(any::<String>()))
        ),
        header in proptest::option::of("[ -~é]{0,20}"),
        is_declined: bool,
    ) {
        let refusal = refusal.map(|(status, code, message)| Refusal { status, code, message });
        let compression = match (is_declined, &refusal) {
            (true, None) => Compression::Declined,
            _ => Compression::Offered,
        };
        let headers = header.map(|value| ("x-a".to_owned(), value)).into_iter().collect();
        let handshake = Handshake { gate, headers, refusal, compression };
        let text = format!("turns: []\nconnections:\n{}", connection_of(&handshake));
        let script = load(&Source::new("written", text.clone())).map_err(|_| {
            TestCaseError::fail(text)
        })?;
        let connection = Connection { handshake, faults: Vec::new() };
        prop_assert_eq!(script.connections, [connection]);
    }
}

#[test]
fn a_reply_is_written_for_people_to_read() {
    let call = Call {
        namespace: Some("fs".to_owned()),
        call_id: Some("call_9".to_owned()),
        must_be_offered: false,
        ..Call::new(
            "read",
            CallPayload::Arguments(
                json!({"path": "a.md", "lines": [1, null]}).as_object().unwrap().clone(),
            ),
        )
    };
    let reply = Reply {
        ending: Ending::Length,
        usage: Usage { input: 7, ..Usage::default() },
        ..Reply::of([
            Item::Reasoning {
                summary: vec!["Look.".to_owned()],
                content: Vec::new(),
                encrypted_content: None,
            },
            Item::Message {
                text: "Two\nlines\u{7f}".to_owned(),
                phase: Some("commentary".to_owned()),
            },
            Item::Call(call),
        ])
    };
    insta::assert_snapshot!(turn_of(&reply));
}
