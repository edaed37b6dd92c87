//! What stands in the last request, and in those of sub-agents.

use super::*;

fn named(names: &[&str]) -> Vec<(String, Span)> {
    names.iter().map(|name| ((*name).to_owned(), Span::default())).collect()
}

/// A run whose second request holds these origins, in this order, each in a segment of its own,
/// when this is asked of it.
fn run_with(kind: ExpectKind<LateText>, there: &[(&str, Authority)]) -> (Case, Evidence) {
    let mut case = case_expecting(kind);
    let mut last = answered("denied");
    for (name, authority) in there {
        last.push(segment(*authority, &format!("text of {name}")));
    }
    let mut last = request(2, last);
    for name in ["a", "b", "c"] {
        let origin = origin(name, &[(OriginSource::User, &format!("text of {name}"))]);
        let origin = crate::case::Origin { token: format!("text of {name}"), ..origin };
        last = sight(last, &origin);
        case.origins.push(origin);
    }
    (case, evidence_of(vec![request(1, opening()), last]))
}

fn last_request(
    holds: &[&str],
    lacks: &[&str],
    order: &[&str],
    there: &[(&str, Authority)],
) -> Vec<String> {
    let (holds, lacks, order) = (named(holds), named(lacks), named(order));
    let (case, evidence) = run_with(ExpectKind::LastRequest { holds, lacks, order }, there);
    outcome(&judged(&case, &evidence, None))
}

#[test]
fn the_last_request_holds_lacks_and_orders() {
    const USER: Authority = Authority::User;
    let there = [("a", USER), ("b", USER)];
    assert_eq!(last_request(&["a", "b"], &["c"], &["a", "b"], &there), pass());
    // What is not there has no place in the order.
    assert_eq!(last_request(&[], &[], &["a", "c", "b"], &there), pass());
    for broken in [
        last_request(&["a", "c"], &[], &[], &there),
        last_request(&[], &["b"], &[], &there),
        last_request(&[], &[], &["b", "a"], &there),
        last_request(&[], &[], &["b", "c", "a"], &there),
        // The model's own words about it are not the thing itself.
        last_request(&["a"], &[], &[], &[("a", Authority::Assistant)]),
    ] {
        assert_eq!(broken, [CLAUSE]);
    }
}

#[test]
fn a_conversation_that_ended_early_has_no_last_request() {
    let holds = vec![("a".to_owned(), Span::default())];
    let kind = ExpectKind::LastRequest { holds, lacks: Vec::new(), order: Vec::new() };
    let mut case = case_expecting(kind);
    case.main.steps.push(crate::case::CaseStep::user(LateText::literal("And then?")));
    let judgement = judged(&case, &evidence(), None);
    assert!(matches!(judgement.verdict, Verdict::Error { .. }), "{judgement:?}");
}

#[test]
fn the_requests_of_sub_agents_hold_and_lack() {
    let there = [("a", Authority::User), ("b", Authority::Assistant)];
    let asked = |holds: &[&str], lacks: &[&str]| {
        let kind = ExpectKind::SubAgent { holds: named(holds), lacks: named(lacks) };
        let (case, mut evidence) = run_with(kind, &there);
        // A third request asks the same of the conversation itself.
        let mut main = evidence.requests[1].clone();
        main.number = 3;
        evidence.requests.push(main);
        evidence.requests[1].purpose = Purpose::new("sub-agent");
        outcome(&judged(&case, &evidence, None))
    };
    assert_eq!(asked(&["a"], &["c"]), pass());
    assert_eq!(asked(&["c"], &[]), [CLAUSE]);
    assert_eq!(asked(&[], &["a"]), [CLAUSE]);
    // Another agent's words to it are no tool's and no user's.
    assert_eq!(asked(&["b"], &[]), pass());
    assert_eq!(asked(&[], &["b"]), [CLAUSE]);
}

#[test]
fn without_a_sub_agent_nothing_is_proved_of_it() {
    let kind = ExpectKind::SubAgent { holds: Vec::new(), lacks: named(&["c"]) };
    let (case, evidence) = run_with(kind, &[]);
    let judgement = judged(&case, &evidence, None);
    assert!(matches!(judgement.verdict, Verdict::Error { .. }), "{judgement:?}");
}
