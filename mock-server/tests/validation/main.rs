//! Every rule, as a client meets it: one request that breaks it and nothing else, and the nearest
//! request that passes.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

mod case;
mod chat;
mod compatible;
mod documentation;
mod messages;
mod provider;
mod responses;
mod script;

use case::Case;
use conform_mock_server::validate::RuleId;

fn all() -> Vec<Case> {
    let mut cases = responses::cases();
    cases.extend(chat::cases());
    cases.extend(messages::cases());
    cases.extend(compatible::cases());
    cases
}

#[test]
fn every_rule_has_its_case() {
    // Rules about frames of a WebSocket are tested beside their code; those two about what is not
    // the body of a model request, below.
    let elsewhere = [RuleId::R35, RuleId::R37, RuleId::R40, RuleId::R41];
    let cases = all();
    let missing: Vec<_> = RuleId::ALL
        .iter()
        .filter(|id| !elsewhere.contains(id) && !cases.iter().any(|case| case.rule == **id))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn a_request_that_breaks_a_rule_is_refused_as_documented() {
    for case in all() {
        case.is_refused().await;
    }
}

#[tokio::test]
async fn it_breaks_nothing_else() {
    for case in all() {
        case.breaks_nothing_else().await;
    }
}

#[tokio::test]
async fn a_refused_request_takes_no_turn_and_its_neighbour_passes() {
    for case in all() {
        case.neighbour_passes().await;
    }
}
