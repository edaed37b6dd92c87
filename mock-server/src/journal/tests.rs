//! Bounded journals: what leaves memory, what comes back, what is counted.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::wire::Wire;

fn sink(body: impl Into<Bytes>) -> Exchange {
    exchange(body, Route::Sink { name: "s".to_owned() })
}

fn exchange(body: impl Into<Bytes>, route: Route) -> Exchange {
    Exchange {
        number: 0,
        received: Duration::from_nanos(1_234_567_891),
        method: "POST".to_owned(),
        path: "/v1/responses".to_owned(),
        query: Some("a=b".to_owned()),
        headers: vec![("x-a".to_owned(), "\u{fffd}1".to_owned())],
        body: body.into(),
        route,
    }
}

fn model(outcome: Outcome, delivery: Delivery) -> Exchange {
    let json = Some(Arc::new(json!({"model": "m", "input": [1, -2, null, "ü"]})));
    let purpose = Purpose::new("title");
    let (effective, dropped, answer) = (json.clone(), Vec::new(), None);
    let (wire, applied) = (Wire::Chat, None);
    let model = ModelExchange {
        wire,
        purpose,
        json,
        effective,
        dropped,
        outcome,
        answer,
        delivery,
        applied,
    };
    exchange("{}", Route::Model(model))
}

fn served() -> Outcome {
    Outcome::Served(Served {
        turn: 3,
        label: "turn 4".to_owned(),
        response_id: "resp_4".to_owned(),
        call_ids: vec!["call_4_1".to_owned()],
    })
}

/// One exchange of every kind.
fn kinds() -> Vec<Exchange> {
    let text = || "text".to_owned();
    let guard = Outcome::GuardFailed { turn: text(), reason: text() };
    let not_offered =
        Outcome::NotOffered { turn: text(), tool: text(), offered: vec![text(), text()] };
    let mut kinds: Vec<Exchange> = [
        served(),
        Outcome::SideDefault,
        Outcome::Unscripted,
        guard,
        not_offered,
        Outcome::Malformed { reason: text() },
    ]
    .into_iter()
    .map(|outcome| model(outcome, Delivery::Complete))
    .collect();
    kinds.push(model(served(), Delivery::Abandoned));
    let lookups = [Lookup::Models, Lookup::Model { id: text() }, Lookup::CountTokens];
    kinds.extend(lookups.map(|lookup| exchange("", Route::Lookup(lookup))));
    kinds.push(exchange("", Route::Page { name: text(), found: true }));
    kinds.push(sink(vec![0, 159, 146, 150, 255]));
    kinds.push(exchange("not JSON", Route::Unknown));
    kinds
}

fn limits(entries: usize, spill: Option<&tempfile::TempDir>) -> JournalLimits {
    let spill = spill.map(|folder| folder.path().to_owned());
    JournalLimits { entries, spill, ..JournalLimits::NONE }
}

#[test]
fn every_kind_of_exchange_comes_back_from_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let bounded = Journal::new(limits(0, Some(&folder)));
    let unbounded = Journal::default();
    for exchange in kinds() {
        bounded.append(exchange.clone());
        unbounded.append(exchange);
    }
    let counts = bounded.counts();
    assert_eq!((counts.exchanges, counts.spilled, counts.dropped), (13, 13, 0));
    assert_eq!((counts.model, counts.served, counts.side_default, counts.refused), (7, 2, 1, 4));
    assert_eq!(bounded.snapshot(), unbounded.snapshot());
    assert_eq!(bounded.lock().recent().len(), 0);
    assert_eq!(bounded.get(13).unwrap().unwrap().number, 13);
    assert_eq!(bounded.get(14).unwrap(), None);
    assert_eq!(bounded.get(0).unwrap(), None);
}

#[test]
fn the_file_has_no_name_to_be_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(limits(0, Some(&folder)));
    journal.append(sink("a"));
    assert_eq!(journal.counts().spilled, 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn without_a_folder_what_leaves_memory_is_counted_and_named() {
    let journal = Journal::new(limits(4, None));
    for _ in 0..5 {
        journal.append(sink("a"));
    }
    let counts = journal.counts();
    assert_eq!((counts.exchanges, counts.spilled, counts.dropped), (5, 0, 2));
    assert_eq!(journal.len(), 5);
    let numbers: Vec<u64> = journal.snapshot().iter().map(|exchange| exchange.number).collect();
    assert_eq!(numbers, [3, 4, 5]);
    assert_eq!(journal.get(2), Err(Missing::Dropped { number: 2 }));
    assert_eq!(journal.iter().filter(Result::is_err).count(), 2);
    assert_eq!(journal.trouble(), None);
}

#[test]
fn a_folder_that_is_gone_drops_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(limits(0, Some(&folder)));
    drop(folder);
    journal.append(sink("a"));
    assert_eq!(journal.counts().dropped, 1);
    assert!(journal.trouble().unwrap().starts_with("exchange 1 could not be written: "));
}

#[test]
fn what_is_not_settled_stays_until_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(limits(2, Some(&folder)));
    journal.append(model(served(), Delivery::Pending));
    for _ in 0..9 {
        journal.append(sink("a"));
    }
    assert_eq!(journal.lock().recent()[0].number, 1);
    assert_eq!(journal.counts().pending, 1);
    journal.set_delivery(1, Delivery::Complete);
    assert_eq!(journal.counts().pending, 0);
    for _ in 0..3 {
        journal.append(sink("a"));
    }
    assert_ne!(journal.lock().recent()[0].number, 1);
    assert_eq!(journal.delivery(1), Ok(Some(Delivery::Complete)));
    assert_eq!(journal.delivery(2), Ok(None));
}

#[test]
fn an_answer_that_was_abandoned_at_the_very_end_is_corrected_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(limits(0, Some(&folder)));
    journal.append(model(served(), Delivery::Complete));
    journal.append(model(served(), Delivery::Complete));
    assert_eq!(journal.counts().spilled, 2);
    let before = journal.get(1).unwrap().unwrap();
    journal.set_delivery(1, Delivery::Abandoned);
    let after = journal.get(1).unwrap().unwrap();
    assert_eq!(journal.delivery(1), Ok(Some(Delivery::Abandoned)));
    assert_eq!((before.headers, before.body), (after.headers, after.body));
    assert_eq!(journal.delivery(2), Ok(Some(Delivery::Complete)));
    assert_eq!(journal.counts().exchanges, 2);
}

#[test]
fn bytes_are_bounded_as_well() {
    let journal = Journal::new(JournalLimits { bytes: 1024 * 1024, ..JournalLimits::NONE });
    for _ in 0..100 {
        journal.append(sink(vec![0; 64 * 1024]));
        let kept: usize = journal.lock().recent().iter().map(|exchange| exchange.body.len()).sum();
        assert!(kept <= 1024 * 1024, "{kept}");
    }
    assert_eq!(journal.counts().exchanges, 100);
}

#[tokio::test]
async fn waiting_sees_what_is_in_memory() {
    let journal = Journal::new(limits(4, None));
    let calls = AtomicU64::new(0);
    let waiting = journal.wait_until(|recent| {
        calls.fetch_add(1, Ordering::Relaxed);
        recent.last().is_some_and(|exchange| exchange.number == 6)
    });
    let append = async {
        for _ in 0..6 {
            journal.append(sink("a"));
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(waiting, append);
    assert!(calls.load(Ordering::Relaxed) >= 2);
}

/// What a server does with a journal.
#[derive(Debug, Clone)]
enum Step {
    Sink,
    Ask,
    /// Ends the answer to the exchange at this place among those that wait.
    End(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![Just(Step::Sink), Just(Step::Ask), (0_usize..8).prop_map(Step::End)]
}

proptest! {
    /// A bounded journal with a folder says the same as an unbounded one, whatever the order in
    /// which answers end; and its memory holds no more than the limit, or what waits.
    #[test]
    fn limits_change_nothing_but_the_place(steps in vec(step(), 0..60), entries in 0_usize..6) {
        let folder = tempfile::tempdir().unwrap();
        let bounded = Journal::new(limits(entries, Some(&folder)));
        let unbounded = Journal::default();
        let mut waiting = Vec::new();
        for step in steps {
            let arrives = !matches!(step, Step::End(_));
            match step {
                Step::Sink => {
                    bounded.append(sink("a"));
                    unbounded.append(sink("a"));
                }
                Step::Ask => {
                    bounded.append(model(served(), Delivery::Pending));
                    waiting.push(unbounded.append(model(served(), Delivery::Pending)));
                }
                Step::End(place) if place < waiting.len() => {
                    let number = waiting.remove(place);
                    bounded.set_delivery(number, Delivery::Complete);
                    unbounded.set_delivery(number, Delivery::Complete);
                }
                Step::End(_) => {}
            }
            let in_memory = bounded.lock().recent().len();
            if arrives {
                prop_assert!(in_memory <= entries.max(waiting.len()), "{in_memory}");
            }
            let counts = bounded.counts();
            prop_assert_eq!(counts.exchanges, counts.spilled + in_memory as u64);
            prop_assert_eq!(counts.pending, waiting.len() as u64);
        }
        prop_assert_eq!(bounded.snapshot(), unbounded.snapshot());
        let same = Counts { spilled: 0, ..bounded.counts() };
        prop_assert_eq!(same, unbounded.counts());
    }
}
