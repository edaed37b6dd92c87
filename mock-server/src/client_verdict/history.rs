//! Calls and results in what the client sends.

use std::collections::{HashMap, HashSet};

use super::attempt::Attempt;
use super::model::{Kind, Misstep};
use crate::capture::{Segment, SegmentKind};

/// The items of a kind, each once with all of its text: a result may have several parts.
fn items(attempt: &Attempt<'_>, kind: SegmentKind) -> Vec<(String, String)> {
    let mut found: Vec<(Option<usize>, String, String)> = Vec::new();
    let segments = attempt.capture.segments.iter().filter(|segment| segment.kind == kind);
    for Segment { item, call_id, text, .. } in segments {
        let Some(call_id) = call_id else { continue };
        match found.last_mut() {
            Some((last, id, whole)) if last == item && id == call_id => whole.push_str(text),
            _ => found.push((*item, call_id.clone(), text.clone())),
        }
    }
    found.into_iter().map(|(_, id, text)| (id, text)).collect()
}

/// It sent a result of a call that nobody made: the call is not in the request, and the request
/// does not go on from a response before it.
pub(super) fn orphan_results(attempts: &[Attempt<'_>]) -> Vec<Misstep> {
    let mut told: HashSet<String> = HashSet::new();
    let mut missteps = Vec::new();
    for attempt in attempts.iter().filter(|attempt| attempt.is_whole) {
        let calls = items(attempt, SegmentKind::Call);
        for (id, _) in items(attempt, SegmentKind::Result) {
            // Every later request has the same history; the first one is enough.
            if !calls.iter().any(|(call, _)| *call == id) && told.insert(id.clone()) {
                let says = format!("it sent a result for `{id}`, and no call with that id");
                missteps.push(Misstep::new(Kind::OrphanResults, vec![attempt.number], says));
            }
        }
    }
    missteps
}

/// It answered one call twice in one request, or with another result in a later one.
pub(super) fn double_execution(attempts: &[Attempt<'_>]) -> Vec<Misstep> {
    let mut first: HashMap<String, (u64, String)> = HashMap::new();
    let mut told: HashSet<String> = HashSet::new();
    let mut missteps = Vec::new();
    for attempt in attempts {
        let mut here: HashSet<String> = HashSet::new();
        for (id, text) in items(attempt, SegmentKind::Result) {
            let is_again = !here.insert(id.clone());
            let earlier = first.entry(id.clone()).or_insert_with(|| (attempt.number, text.clone()));
            let says = if is_again {
                format!("one request answers the call `{id}` twice")
            } else if earlier.1 != text && !is_shortened(&earlier.1, &text) {
                format!("the call `{id}` has another result than before")
            } else {
                continue;
            };
            if told.insert(id) {
                let mut exchanges = vec![earlier.0, attempt.number];
                exchanges.dedup();
                missteps.push(Misstep::new(Kind::DoubleExecutionSuspected, exchanges, says));
            }
        }
    }
    missteps
}

/// Whether a result was only made shorter, as clients do with old ones: it has become less than
/// half as long, or begins and ends as before.
fn is_shortened(before: &str, after: &str) -> bool {
    if after.len() >= before.len() {
        return false;
    }
    let same_start = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    let same_end =
        before.chars().rev().zip(after.chars().rev()).take_while(|(a, b)| a == b).count();
    after.len() * 2 < before.len() || (same_start + same_end) * 2 >= after.chars().count()
}
