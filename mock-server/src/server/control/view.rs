//! Sessions, journals and verdicts as JSON.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::ClientVerdict;
use crate::journal::{Delivery, Exchange, Missing, Route};
use crate::server::session::Session;

/// How many bytes of bodies a page of the journal holds before it ends.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// A session and its figures.
pub(super) fn session(session: &Session) -> Value {
    let state = session.state();
    let counts = state.journal.counts();
    json!({
        "key": session.key().as_str(),
        "base_url": session.base_url(),
        "turns": state.script.turns.len(),
        "unused": state.unused_turns().len(),
        "counts": counts,
    })
}

/// The gates that the script names or that were opened, in order of their names.
pub(super) fn gates(session: &Session) -> Value {
    let state = session.state();
    let scripted = state.script.turns.iter().filter_map(|turn| turn.gate.clone());
    let scripted = scripted.chain(state.script.pages.values().filter_map(|page| page.gate.clone()));
    let names: BTreeSet<String> = scripted.chain(state.gates.open_names()).collect();
    let gate = |name: &String| json!({"name": name, "open": state.gates.is_open(name)});
    json!({"session": session.key().as_str(), "gates": names.iter().map(gate).collect::<Vec<_>>()})
}

/// A page of the journal. `next` says after which number to go on; it is null when nothing
/// follows yet.
pub(super) fn journal(session: &Session, after: u64, limit: usize) -> Value {
    let journal = session.journal();
    let counts = journal.counts();
    let mut exchanges = Vec::new();
    let mut bytes = 0;
    let mut last = after.min(counts.exchanges);
    while last < counts.exchanges && exchanges.len() < limit && bytes < PAGE_BYTES {
        last += 1;
        match journal.get(last) {
            Ok(None) => break,
            Ok(Some(found)) => {
                bytes += found.body.len();
                exchanges.push(exchange(&found));
            }
            Err(missing) => exchanges.push(absent(last, &missing)),
        }
    }
    let next = (last < counts.exchanges).then_some(last);
    json!({
        "session": session.key().as_str(),
        "counts": counts,
        "trouble": journal.trouble(),
        "exchanges": exchanges,
        "next": next,
    })
}

/// An exchange: all that the journal knows, with the body as text where it is text and not shown
/// as JSON already.
pub(super) fn exchange(exchange: &Exchange) -> Value {
    let Exchange { number, received, method, path, query, headers, body, route } = exchange;
    let mut shown = json!({
        "number": number,
        "received_us": u64::try_from(received.as_micros()).unwrap_or(u64::MAX),
        "method": method,
        "path": path,
        "query": query,
        "headers": headers,
        "route": route,
        "body_bytes": body.len(),
    });
    let has_json = matches!(route, Route::Model(model) if model.json.is_some());
    if !has_json && let Ok(text) = std::str::from_utf8(body) {
        shown["body"] = json!(text);
    }
    shown
}

/// What stands in the place of an exchange that nobody can look at any more.
pub(super) fn absent(number: u64, missing: &Missing) -> Value {
    json!({"number": number, "missing": missing.to_string()})
}

/// How far an answer got.
pub(super) fn delivery(number: u64, delivery: Delivery) -> Value {
    json!({"number": number, "delivery": delivery})
}

/// Whether what happened fits the script; and what is said of the client, if something is.
pub(super) fn verdict(session: &Session, judge_client: Option<&ClientVerdict>) -> Value {
    let state = session.state();
    let unused: Vec<Value> = state
        .unused_turns()
        .into_iter()
        .map(|(turn, label)| json!({"turn": turn, "label": label}))
        .collect();
    let mismatches: Vec<Value> = session
        .verify()
        .err()
        .map_or_else(Vec::new, |report| report.mismatches)
        .iter()
        .map(|mismatch| {
            let mut shown = json!(mismatch);
            shown["message"] = json!(mismatch.to_string());
            shown
        })
        .collect();
    json!({
        "session": session.key().as_str(),
        "holds": mismatches.is_empty(),
        "counts": state.journal.counts(),
        "unused": unused,
        "mismatches": mismatches,
        "client": judge_client.map(|judge| judge(&state.journal.snapshot())),
    })
}
