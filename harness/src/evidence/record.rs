//! The normalised record of a run's evidence.

use conform_mock_server::capture::Segment;
use conform_mock_server::journal::Outcome;
use conform_reports::record::{
    ApprovalRecord, FileChange, OriginSighting, RequestRecord, RunEvidence, SegmentRecord,
    SinkRecord, Tokens,
};
use serde_json::Value;

use super::model::{Evidence, ModelRequest, SinkDelivery};
use super::normalise::Normaliser;
use crate::case::Variant;
use crate::scenario::ReportedUsage;

/// The record of a run. The same evidence gives the same record in whatever folders and on
/// whatever port it was gathered.
pub fn run_evidence(
    evidence: &Evidence,
    variant: &Variant,
    normaliser: &Normaliser<'_>,
) -> RunEvidence {
    let text = |text: &String| normaliser.text(text);
    let mut leftovers: Vec<String> = evidence.dialogue.leftovers.iter().map(text).collect();
    // Process ids, by which they were found, have no lasting order.
    leftovers.sort();
    RunEvidence {
        policy: variant.policy.name().to_owned(),
        requests: evidence
            .requests
            .iter()
            .map(|request| request_record(request, variant, normaliser))
            .collect(),
        approvals: evidence
            .dialogue
            .approvals
            .iter()
            .map(|approval| ApprovalRecord {
                call_id: approval.call_id.as_ref().map(text),
                action: normaliser.text(&approval.action),
                decision: if approval.allowed { "allowed" } else { "denied" }.to_owned(),
            })
            .collect(),
        files: evidence
            .files
            .iter()
            .map(|file| FileChange { path: normaliser.text(&file.path), change: file.change })
            .collect(),
        sinks: evidence.sinks.iter().map(|sink| sink_record(sink, normaliser)).collect(),
        pages: evidence.pages.clone(),
        strays: evidence.strays.iter().map(text).collect(),
        exit: evidence.dialogue.exit.clone(),
        final_text: evidence
            .dialogue
            .turns
            .last()
            .and_then(|turn| turn.final_text.as_ref())
            .map(text),
        leftovers,
    }
}

/// The body of a request without what differs from run to run; keys are sorted, since an agent may
/// write those of a map in any order.
pub fn normalised_body(request: &ModelRequest, normaliser: &Normaliser<'_>) -> Value {
    let mut body = normaliser.json(&request.body);
    body.sort_all_objects();
    body
}

/// The record of one request. Hashes and lengths are those of the normalised texts.
pub fn request_record(
    request: &ModelRequest,
    variant: &Variant,
    normaliser: &Normaliser<'_>,
) -> RequestRecord {
    let body = normalised_body(request, normaliser).to_string();
    RequestRecord {
        number: request.number,
        purpose: request.purpose.to_string(),
        wire: request.capture.wire.to_string(),
        path: normaliser.text(&request.path),
        answer: normaliser.text(&answer(&request.outcome)),
        segments: request
            .capture
            .segments
            .iter()
            .enumerate()
            .map(|(index, segment)| segment_record(request, index, segment, normaliser))
            .collect(),
        tools: request.capture.tools.iter().map(ToString::to_string).collect(),
        hash: hash(&body),
        body: None,
        tokens: tokens(&request.outcome, variant),
    }
}

fn segment_record(
    request: &ModelRequest,
    index: usize,
    segment: &Segment,
    normaliser: &Normaliser<'_>,
) -> SegmentRecord {
    let text = normaliser.text(&segment.text);
    SegmentRecord {
        pointer: normaliser.text(&segment.pointer),
        role: segment.role.clone(),
        native_type: segment.native_type.clone(),
        authority: segment.authority.name().to_owned(),
        call_id: segment.call_id.as_deref().map(|id| normaliser.text(id)),
        origins: request
            .origins
            .iter()
            .filter(|found| found.segment == index)
            .map(|found| OriginSighting {
                origin: found.origin.clone(),
                frame: found.frame.clone(),
                placement: found.placement,
            })
            .collect(),
        hash: hash(&text),
        characters: text.chars().count(),
    }
}

fn sink_record(sink: &SinkDelivery, normaliser: &Normaliser<'_>) -> SinkRecord {
    SinkRecord {
        sink: sink.sink.clone(),
        method: sink.method.clone(),
        // Paths and ports in the body differ in length from run to run.
        bytes: normaliser.text(&sink.body).len(),
        secrets: sink.secrets.clone(),
    }
}

fn answer(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Served(served) => served.label.clone(),
        Outcome::SideDefault => "the purpose's default reply".to_owned(),
        Outcome::WarmUp { .. } => "a response without output".to_owned(),
        Outcome::PreviousNotFound { previous } => {
            format!("refused: the response {previous} that it continues is not there")
        }
        Outcome::Unscripted => "refused: the script has no turn left".to_owned(),
        Outcome::GuardFailed { turn, reason } => {
            format!("refused: the guard of {turn} does not hold: {reason}")
        }
        Outcome::NotOffered { turn, tool, .. } => {
            format!("refused: {turn} calls {tool}, which is not offered")
        }
        Outcome::Faulted { turn } => format!("the fault of {turn}: an HTTP error"),
        Outcome::Unfit { turn, reason } => format!("refused: {turn} cannot be given: {reason}"),
        Outcome::Refused(refusal) => format!("refused: {refusal}"),
        Outcome::Malformed { reason } => format!("refused: malformed request: {reason}"),
    }
}

fn tokens(outcome: &Outcome, variant: &Variant) -> Option<Tokens> {
    let Outcome::Served(served) = outcome else { return None };
    let usage = variant.turns.iter().find(|turn| turn.name == served.label)?.usage;
    // A figure that only stands for a full window says nothing about cost.
    let ReportedUsage::Figures(usage) = usage else { return None };
    Some(Tokens { input: usage.input, cached: usage.cached, output: usage.output })
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests;
