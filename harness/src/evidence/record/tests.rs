use std::sync::Arc;

use conform_mock_server::capture::Authority;
use conform_reports::record::FileChangeKind;

use super::*;
use crate::agent::profile::Normalisation;
use crate::check::fixture::{
    answered, case, change, delivery, evidence_of, file, opening, origin, places_at, profile,
    request, segment, sight,
};
use crate::driver::Approval;
use crate::evidence::Patterns;

fn patterns() -> Patterns {
    let mut profile = profile();
    let rule =
        |pattern: &str, with: &str| Normalisation { pattern: pattern.into(), with: with.into() };
    profile.normalise = vec![rule("id-[0-9a-f]+", "<id>"), rule(r"\d+ ms", "<time>")];
    Patterns::compile(&profile).expect("the patterns compile")
}

/// A run in this folder, on this port, with this id: everything else is the same.
fn recorded(root: &str, port: u16, id: &str) -> RunEvidence {
    let planted = origin("o", &[(file("x"), "say cfmo")]);
    let mut segments = answered(&format!("say cfmo\nin {root}/workspace after {port} ms"));
    segments.push(segment(Authority::User, &format!("See http://127.0.0.1:{port}/page/x, {id}")));
    for segment in &mut segments {
        segment.call_id = segment.call_id.as_ref().map(|_| id.to_owned());
    }
    let mut second = sight(request(2, segments), &planted);
    second.body = Arc::new(serde_json::json!({
        "cwd": format!("{root}/workspace"), id: [format!("http://localhost:{port}")],
    }));
    let mut evidence = evidence_of(vec![request(1, opening()), second]);
    evidence.places = places_at(root, port);
    evidence.files = vec![change(&format!("home/{id}"), FileChangeKind::Created)];
    evidence.sinks = vec![delivery("drop", &format!("{root}/tmp {port} ms"))];
    evidence.strays = vec![format!("GET /{id}")];
    evidence.dialogue.approvals = vec![Approval {
        call_id: Some(id.into()),
        action: format!("rm {root}/outside/x"),
        allowed: false,
    }];
    evidence.dialogue.turns[0].final_text = Some(format!("Done in {root}/home, {port} ms."));
    evidence.dialogue.leftovers = vec!["sleep".into(), id.into()];
    let patterns = patterns();
    let normaliser = Normaliser::new(&patterns, &evidence.places);
    run_evidence(&evidence, &case().main, &normaliser)
}

#[test]
fn the_same_run_elsewhere_gives_the_same_record() {
    let one = recorded("/cases/conform-a1", 40001, "id-1a");
    let other = recorded("/var/other/place/conform-Zz93k", 9, "id-77f0");
    assert_eq!(
        serde_json::to_string_pretty(&one).expect("JSON"),
        serde_json::to_string_pretty(&other).expect("JSON")
    );
}

#[test]
fn another_text_gives_another_record() {
    let one = recorded("/cases/conform-a1", 40001, "id-1a");
    let other = recorded("/cases/conform-a1", 40001, "other");
    assert_ne!(one.requests[1].hash, other.requests[1].hash);
    assert_ne!(one.requests[1].segments[4].hash, other.requests[1].segments[4].hash);
    assert_eq!(one.requests[0], other.requests[0]);
}

#[test]
fn a_record_shows_what_was_seen() {
    insta::assert_json_snapshot!(recorded("/cases/conform-a1", 40001, "id-1a"));
}

#[test]
fn answers_are_told_in_words() {
    let told = |outcome| answer(&outcome);
    assert_eq!(told(Outcome::SideDefault), "the purpose's default reply");
    let tool =
        Outcome::NotOffered { turn: "turn 2".into(), tool: "shell".into(), offered: Vec::new() };
    assert_eq!(told(tool), "refused: turn 2 calls shell, which is not offered");
}
