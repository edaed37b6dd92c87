//! Collecting: one run's journal, trees and dialogue become evidence.

use std::sync::Arc;

use conform_mock_server::capture::{Authority, Capture, Segment, SegmentKind, capture};
use conform_mock_server::journal::{
    Delivery, Effective, Exchange, Lookup, ModelExchange, Outcome, Route,
};
use conform_mock_server::script::Purpose;
use serde_json::Value;

use super::model::{CallState, Course, Evidence, Leak, ModelRequest, SinkDelivery, StraySecret};
use super::normalise::Patterns;
use super::origin::{Planted, find_origins};
use super::secret::{KnownSecret, secrets_in, visit_texts};
use super::tree::Snapshot;
use crate::case::{Case, CaseTurnKind, Places, Variant};
use crate::driver::Dialogue;

/// What one run left behind.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The case.
    pub case: &'a Case,
    /// The variant that ran.
    pub variant: &'a Variant,
    /// Its folders and the mock's address.
    pub places: &'a Places,
    /// The profile's patterns.
    pub patterns: &'a Patterns,
    /// Everything that reached the mock; taken after the agent's end.
    pub journal: &'a [Exchange],
    /// Turns of the script that were not given: index into the script and label.
    pub unused_turns: &'a [(usize, String)],
    /// For each turn of the script, the index of the variant's turn that it stands for.
    pub script_turns: &'a [usize],
    /// The case tree before the agent started.
    pub before: &'a Snapshot,
    /// The case tree after its end.
    pub after: &'a Snapshot,
    /// What the driver saw.
    pub dialogue: &'a Dialogue,
    /// How the steps went.
    pub course: &'a Course,
}

/// Turns what a run left behind into evidence. What cannot be established is listed in
/// [`Evidence::problems`], and such evidence is never judged.
pub fn collect(input: &Input<'_>) -> Evidence {
    let search = Search::new(input.case, input.places);
    let mut evidence = Evidence {
        places: input.places.clone(),
        requests: Vec::new(),
        unused_turns: Vec::new(),
        calls: Vec::new(),
        attempts: Vec::new(),
        files: Snapshot::changes(input.before, input.after, input.patterns.own_state()),
        sinks: Vec::new(),
        pages: Vec::new(),
        strays: Vec::new(),
        leaks: Vec::new(),
        dialogue: input.dialogue.clone(),
        course: input.course.clone(),
        problems: input.dialogue.unanswered.iter().map(|question| unanswered(question)).collect(),
    };
    for exchange in input.journal {
        match &exchange.route {
            Route::Upgrade(_) | Route::SocketMessage { .. } => {
                evidence.leaks.extend(search.leaks(exchange));
            }
            Route::Model(model) => {
                let request = search.model_request(exchange, model, &mut evidence);
                evidence.requests.push(request);
            }
            Route::Sink { name } => evidence.sinks.push(search.delivery(exchange, name)),
            Route::Page { name, found: true } => {
                evidence.pages.push(name.clone());
                evidence.leaks.extend(search.leaks(exchange));
            }
            // These take the prompt to the model's provider, where it goes anyway.
            Route::Lookup(Lookup::CountTokens | Lookup::InputTokens | Lookup::Compact) => {}
            Route::Lookup(_) => evidence.leaks.extend(search.leaks(exchange)),
            Route::Page { found: false, .. } | Route::Unknown => {
                evidence.strays.push(address(exchange));
                evidence.leaks.extend(search.leaks(exchange));
            }
        }
    }
    for (turn, label) in input.unused_turns {
        let name = script_turn(input, *turn).map_or(label, |at| &input.variant.turns[at].name);
        evidence.unused_turns.push(name.clone());
    }
    for (index, turn) in input.variant.turns.iter().enumerate() {
        let CaseTurnKind::Calls(calls) = &turn.kind else { continue };
        let states = call_states(input, &mut evidence, index, calls.len());
        if turn.attempt {
            evidence.attempts.extend(states.iter().cloned());
        }
        evidence.calls.extend(states);
    }
    evidence
}

/// Whatever the agent asked for, it was not told no by the approver: nothing follows from it.
fn unanswered(question: &str) -> String {
    format!("the agent asked `{question}`, which its driver cannot answer")
}

/// The states of the calls of one turn.
fn call_states(
    input: &Input<'_>,
    evidence: &mut Evidence,
    index: usize,
    calls: usize,
) -> Vec<CallState> {
    let turn = &input.variant.turns[index];
    let given = evidence.requests.iter().filter_map(|request| {
        let Outcome::Served(served) = &request.outcome else { return None };
        (script_turn(input, served.turn) == Some(index)).then_some((request, served))
    });
    // A turn is given once; should it have been given again, what reached the agent counts.
    let (whole, cut): (Vec<_>, Vec<_>) =
        given.partition(|(request, _)| request.delivery == Delivery::Complete);
    let Some((request, served)) = whole.last().or(cut.last()) else {
        let unserved = CallState {
            turn: turn.name.clone(),
            call_id: None,
            delivered: false,
            results: Vec::new(),
            stopped: false,
        };
        return vec![unserved; calls];
    };
    let states: Vec<CallState> = served
        .call_ids
        .iter()
        .map(|id| {
            let results = results(&evidence.requests, &turn.purpose, request.number, id);
            CallState {
                turn: turn.name.clone(),
                call_id: Some(id.clone()),
                delivered: request.delivery == Delivery::Complete,
                stopped: results.is_empty() && stopped_at(input.dialogue, id),
                results,
            }
        })
        .collect();
    if states.len() != calls {
        evidence.problems.push(format!(
            "turn `{}` holds {calls} calls, and the mock gave {}",
            turn.name,
            states.len()
        ));
    }
    states
}

/// The results sent back for a call in requests of the same purpose after request `number`.
fn results(requests: &[ModelRequest], purpose: &Purpose, number: u64, id: &str) -> Vec<String> {
    let mut results: Vec<String> = Vec::new();
    for request in requests.iter().filter(|r| r.number > number && r.purpose == *purpose) {
        let items: Vec<&[Segment]> = request
            .capture
            .segments
            .chunk_by(|a, b| a.item.is_some() && a.item == b.item)
            .collect();
        for (index, item) in items.iter().enumerate() {
            if !item.iter().any(|part| is_result(part, id)) {
                continue;
            }
            // What another agent says directly behind a result is what the call waited for.
            let said = items[index + 1..].iter().take_while(|item| is_of_an_agent(item)).copied();
            let parts = item.iter().filter(|part| is_result(part, id)).chain(said.flatten());
            let text = parts.map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n");
            if !results.contains(&text) {
                results.push(text);
            }
        }
    }
    results
}

fn is_result(part: &Segment, id: &str) -> bool {
    part.kind == SegmentKind::Result && part.call_id.as_deref() == Some(id)
}

/// Whether an item holds one agent's words to another (Codex, `agent_message`): data, and no result.
fn is_of_an_agent(item: &[Segment]) -> bool {
    item.iter().all(|part| part.authority == Authority::Tool && part.kind == SegmentKind::Text)
}

/// Whether the last thing in the dialogue was that the agent asked about this call, was refused, and
/// ended its turn without success.
fn stopped_at(dialogue: &Dialogue, id: &str) -> bool {
    let refused = dialogue
        .approvals
        .last()
        .is_some_and(|approval| !approval.allowed && approval.call_id.as_deref() == Some(id));
    let ended = !dialogue.timed_out && dialogue.turns.last().is_some_and(|turn| !turn.succeeded);
    refused && ended
}

fn script_turn(input: &Input<'_>, turn: usize) -> Option<usize> {
    input.script_turns.get(turn).copied().filter(|index| *index < input.variant.turns.len())
}

/// What is searched for in everything that the agent sent.
struct Search {
    planted: Vec<Planted>,
    secrets: Vec<KnownSecret>,
}

impl Search {
    fn new(case: &Case, places: &Places) -> Self {
        Self {
            planted: case.origins.iter().map(|origin| Planted::resolve(origin, places)).collect(),
            secrets: case.secrets.iter().map(KnownSecret::new).collect(),
        }
    }

    fn model_request(
        &self,
        exchange: &Exchange,
        model: &ModelExchange,
        evidence: &mut Evidence,
    ) -> ModelRequest {
        let (body, capture) = if let Some(sent) = &model.json {
            let continued = sent.get("previous_response_id").filter(|id| !id.is_null());
            let is_whole = matches!(model.effective, Effective::Rebuilt(_))
                || matches!(model.outcome, Outcome::PreviousNotFound { .. });
            if let (Some(id), false) = (continued, is_whole) {
                evidence.problems.push(format!(
                    "request {} cannot be judged as a whole: it continues response {id}, which \
                     the mock does not know",
                    exchange.number
                ));
            }
            let effective = model.effective().unwrap_or(sent);
            (Arc::clone(effective), capture(model.wire, effective))
        } else {
            let text = String::from_utf8_lossy(&exchange.body).into_owned();
            let nothing = Capture {
                wire: model.wire,
                segments: Vec::new(),
                tools: Vec::new(),
                unknown: Vec::new(),
            };
            (Arc::new(Value::String(text)), nothing)
        };
        ModelRequest {
            number: exchange.number,
            purpose: purpose(model),
            path: exchange.path.clone(),
            headers: exchange.headers.clone(),
            origins: find_origins(&capture, &self.planted),
            secrets: self.secrets_in_segments(&capture),
            stray_secrets: self.stray_secrets(exchange, &capture, &body),
            body,
            capture,
            outcome: model.outcome.clone(),
            delivery: model.delivery,
        }
    }

    fn secrets_in_segments(&self, capture: &Capture) -> Vec<(usize, String)> {
        let segments = capture.segments.iter().enumerate();
        segments
            .flat_map(|(index, segment)| {
                let names = secrets_in(&segment.text, &self.secrets);
                names.into_iter().map(move |name| (index, name))
            })
            .collect()
    }

    /// Secrets in headers, the query, and parts of the body that no segment covers.
    fn stray_secrets(
        &self,
        exchange: &Exchange,
        capture: &Capture,
        body: &Value,
    ) -> Vec<StraySecret> {
        if self.secrets.is_empty() {
            return Vec::new();
        }
        let mut strays = Vec::new();
        let query = exchange.query.iter().map(|query| (":query", query.as_str()));
        let headers = exchange.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in headers.chain(query) {
            for secret in secrets_in(value, &self.secrets) {
                strays.push(StraySecret::Header { header: name.to_owned(), secret });
            }
        }
        visit_texts(body, "", &mut |pointer, text| {
            let covered = capture.segments.iter().any(|segment| {
                pointer
                    .strip_prefix(segment.pointer.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            if !covered {
                for secret in secrets_in(text, &self.secrets) {
                    strays.push(StraySecret::Body { pointer: pointer.to_owned(), secret });
                }
            }
        });
        strays
    }

    fn delivery(&self, exchange: &Exchange, sink: &str) -> SinkDelivery {
        let text = whole_text(exchange);
        SinkDelivery {
            sink: sink.to_owned(),
            method: exchange.method.clone(),
            body: String::from_utf8_lossy(&exchange.body).into_owned(),
            bytes: exchange.body.len(),
            secrets: secrets_in(&text, &self.secrets),
            text,
        }
    }

    fn leaks(&self, exchange: &Exchange) -> Vec<Leak> {
        let to = address(exchange);
        secrets_in(&whole_text(exchange), &self.secrets)
            .into_iter()
            .map(|secret| Leak { to: to.clone(), secret })
            .collect()
    }
}

/// The purpose as it counts for judging: requests to which the model said nothing are no part of
/// the conversation, but what they hold is looked at all the same.
fn purpose(model: &ModelExchange) -> Purpose {
    match &model.outcome {
        Outcome::WarmUp { .. } => Purpose::new("warm-up"),
        Outcome::PreviousNotFound { .. } => Purpose::new("lost-chain"),
        _ => model.purpose.clone(),
    }
}

fn address(exchange: &Exchange) -> String {
    format!("{} {}", exchange.method, exchange.path)
}

fn whole_text(exchange: &Exchange) -> String {
    let mut text = exchange.path.clone();
    if let Some(query) = &exchange.query {
        text.push('?');
        text.push_str(query);
    }
    for (name, value) in &exchange.headers {
        text.push('\n');
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
    }
    text.push('\n');
    text.push_str(&String::from_utf8_lossy(&exchange.body));
    text
}

#[cfg(test)]
mod tests;
