//! Faults in single events, and framing that changes nothing.

use crate::raw::{End, Got, PATHS, post};
use crate::sse::{self, Event};
use crate::stream::{RUNTIME, any_item};
use crate::support::{ask, start};
use conform_mock_server::script::{
    Attempts, Edit, EventLine, Fault, Framing, Insert, Inserted, LineEnding, Reply, Script, Split,
    Turn,
};
use conform_mock_server::server::MockServer;
use proptest::prelude::*;
use serde_json::{Value, json};

const TURN: &str = "say: \"Grüße 🦀, and text for a second piece\"";

async fn one(turn: &str, fault: &str, path: &str) -> Got {
    let fault = if fault.is_empty() { String::new() } else { format!(", fault: {fault}") };
    let server = start(&format!("turns: [{{{turn}{fault}}}]")).await;
    let got = post(&server, path, &ask(&json!({}))).await;
    assert_eq!(got.end, End::Whole);
    got
}

async fn pair(fault: &str, path: &str) -> (Got, Got) {
    (one(TURN, fault, path).await, one(TURN, "", path).await)
}

fn events(got: &Got) -> Vec<Event> {
    let (events, at_rest) = sse::parse(&got.body());
    assert!(at_rest);
    events
}

#[tokio::test]
async fn events_can_be_left_out_repeated_and_swapped() {
    for path in PATHS {
        let (got, faultless) = pair("{drop: [2, -1]}", path).await;
        let mut expected = faultless.chunks.clone();
        expected.pop();
        expected.remove(1);
        assert_eq!(got.chunks, expected);

        let (got, faultless) = pair("{repeat: [1, {event: -1, times: 2}]}", path).await;
        let (first, last) = (faultless.chunks.first().unwrap(), faultless.chunks.last().unwrap());
        let mut expected = faultless.chunks.clone();
        expected.insert(0, first.clone());
        expected.extend([last.clone(), last.clone()]);
        assert_eq!(got.chunks, expected);

        let (got, faultless) = pair("{swap: [3, -2]}", path).await;
        let mut expected = faultless.chunks.clone();
        let place = expected.len() - 2;
        expected.swap(2, place);
        assert_eq!(got.chunks, expected);
    }
}

#[tokio::test]
async fn an_event_can_be_malformed() {
    for path in PATHS {
        let (got, faultless) = pair("{malformed: [3, {event: 4, data: '{\"a\":'}]}", path).await;
        let (got, faultless) = (events(&got), events(&faultless));
        assert_eq!(got.len(), faultless.len());
        assert!(serde_json::from_str::<Value>(&got[2].data).is_err());
        assert!(faultless[2].data.starts_with(&got[2].data));
        assert_eq!(got[3].data, "{\"a\":");
        assert_eq!(got[2].name, faultless[2].name);
    }
}

#[tokio::test]
async fn the_terminator_can_be_wrong() {
    for path in [PATHS[0], PATHS[2]] {
        let (got, faultless) = pair("{terminator: done}", path).await;
        assert_eq!(got.text(), format!("{}data: [DONE]\n\n", faultless.text()));
    }
    let (got, faultless) = pair("{terminator: none}", PATHS[1]).await;
    assert_eq!(format!("{}data: [DONE]\n\n", got.text()), faultless.text());
}

#[tokio::test]
async fn sequence_numbers_can_have_a_gap() {
    let fault = "{skip_numbers: {from: response.output_text.delta, by: 10}}";
    let (got, faultless) = pair(fault, PATHS[0]).await;
    let numbers = |got: &Got| -> Vec<u64> {
        let number = |event: &Event| {
            let data: Value = serde_json::from_str(&event.data).unwrap();
            data["sequence_number"].as_u64().unwrap()
        };
        events(got).iter().map(number).collect()
    };
    let expected: Vec<u64> =
        numbers(&faultless).into_iter().map(|n| if n < 4 { n } else { n + 10 }).collect();
    assert_eq!(numbers(&got), expected);
}

#[tokio::test]
async fn comments_and_events_can_come_in_between() {
    for path in PATHS {
        let (got, faultless) = pair(
            "{insert: [{before_event: 2, comment: ' a', times: 2}, {before_event: 2, comment: b, \
             blank_line: false}, {before_event: -1, event: {name: ping, data: {type: ping}}}]}",
            path,
        )
        .await;
        let mut expected = faultless.chunks.clone();
        expected.insert(expected.len() - 1, b"event: ping\ndata: {\"type\":\"ping\"}\n\n".to_vec());
        for comment in [": a\n\n", ": a\n\n", ":b\n"].into_iter().rev() {
            expected.insert(1, comment.into());
        }
        assert_eq!(got.chunks, expected);
    }
}

#[tokio::test]
async fn calls_can_share_an_id_and_end_too_early() {
    let turn = "calls: [{name: f, arguments: {key: value}, offered: false}, \
                {name: g, raw_arguments: '{}', offered: false}]";
    for path in PATHS {
        let got = one(turn, "{same_call_ids: true, cut_arguments: 5}", path).await;
        let text = got.text();
        let first = if path == PATHS[2] { "toolu_1_1" } else { "call_1_1" };
        let second = first.replace("_1_1", "_1_2");
        assert!(text.contains(first) && !text.contains(&second), "{text}");
        assert!(text.contains("{\\\"key") && !text.contains("{\\\"key\\\""), "{text}");
    }
}

#[tokio::test]
async fn writes_can_end_anywhere() {
    for path in PATHS {
        let (got, faultless) = pair("{split: characters}", path).await;
        assert_eq!(got.body(), faultless.body());
        let inside = |chunk: &Vec<u8>| std::str::from_utf8(chunk).is_err();
        assert!(got.chunks.iter().any(inside));

        let (got, faultless) = pair("{split: {every: 1}}", path).await;
        assert_eq!(got.body(), faultless.body());
        assert!(got.chunks.iter().all(|chunk| chunk.len() == 1));

        let (got, faultless) = pair("{split: {at: [3, 20]}}", path).await;
        assert_eq!(got.body(), faultless.body());
        assert_eq!([got.chunks[0].len(), got.chunks[1].len()], [3, 17]);
        assert_eq!(got.chunks.len(), faultless.chunks.len() + 2);

        let (got, faultless) = pair("{split: nowhere}", path).await;
        assert_eq!(got.chunks, [faultless.body()]);

        let (got, faultless) = pair("{split: lines}", path).await;
        assert_eq!(got.body(), faultless.body());
        assert!(
            got.chunks
                .iter()
                .all(|chunk| chunk.split_inclusive(|byte| *byte == b'\n').count() == 1)
        );

        let (got, faultless) = pair("{line_ending: crlf, split: crlf}", path).await;
        assert_eq!(got.text(), faultless.text().replace('\n', "\r\n"));
        let cuts = got
            .chunks
            .windows(2)
            .filter(|pair| pair[0].ends_with(b"\r") && pair[1].starts_with(b"\n"));
        assert_eq!(cuts.count(), faultless.text().matches('\n').count());
    }
}

#[tokio::test]
async fn event_lines_can_be_left_out_or_come_last() {
    for path in [PATHS[0], PATHS[2]] {
        let (got, faultless) = pair("{event_line: omitted}", path).await;
        assert!(!got.text().contains("event:"));
        let datas = |got: &Got| events(got).into_iter().map(|event| event.data).collect::<Vec<_>>();
        assert_eq!(datas(&got), datas(&faultless));
        let (got, faultless) = pair("{event_line: last, line_ending: cr}", path).await;
        assert!(got.text().starts_with("data: "));
        assert!(!got.text().contains('\n'));
        assert_eq!(events(&got), events(&faultless));
    }
}

/// Framing that must change nothing for a client.
fn any_framing() -> impl Strategy<Value = Fault> {
    let line_ending =
        prop_oneof![Just(LineEnding::Lf), Just(LineEnding::CrLf), Just(LineEnding::Cr),];
    let split = prop_oneof![
        Just(Split::Events),
        Just(Split::Nowhere),
        Just(Split::Characters),
        Just(Split::CrLf),
        Just(Split::Lines),
        (1..50_usize).prop_map(Split::Every),
        proptest::collection::vec(0..200_u64, 0..5).prop_map(Split::At),
    ];
    let comment = ("[ -~]{0,12}", any::<bool>(), 1..3_u64).prop_map(|(text, blank_line, times)| {
        let what = Inserted::Comment { text, blank_line };
        Edit::Insert(Insert { before: None, what, times, every: None })
    });
    let edits = proptest::collection::vec(comment, 0..3);
    (line_ending, split, any::<bool>(), edits).prop_map(
        |(line_ending, split, two_data_lines, edits)| Fault {
            framing: Framing { line_ending, split, two_data_lines, event_line: EventLine::First },
            edits,
            ..Fault::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However a stream is framed, a parser makes the same events of it.
    #[test]
    fn framing_changes_nothing_that_a_parser_yields(
        items in proptest::collection::vec(any_item(), 0..3),
        fault in any_framing(),
        path in proptest::sample::select(PATHS.to_vec()),
    ) {
        let turn = Turn::main("turn", Reply::of(items));
        let get = |turn: Turn| RUNTIME.block_on(async {
            let script = Script { turns: vec![turn], ..Script::default() };
            let server = MockServer::builder(script).start().await.unwrap();
            let got = post(&server, path, &ask(&json!({}))).await;
            server.assert_finished();
            got
        });
        let faultless = get(turn.clone());
        let got = get(turn.with_fault(Attempts::Every, fault));
        prop_assert_eq!(got.end, End::Whole);

        let (events, at_rest) = sse::parse_pieces(
            &got.chunks.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        );
        prop_assert!(at_rest);
        let value = |event: &Event| (
            event.name.clone(),
            serde_json::from_str::<Value>(&event.data).unwrap_or_else(|_| json!(event.data)),
        );
        let (expected, _) = sse::parse(&faultless.body());
        prop_assert_eq!(
            events.iter().map(value).collect::<Vec<_>>(),
            expected.iter().map(value).collect::<Vec<_>>()
        );
    }
}
