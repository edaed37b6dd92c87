use super::*;
use crate::check::fixture;

/// The fixture's agent, whose sub-agents work until their parent waits for them.
fn profile() -> Profile {
    let mut profile = fixture::profile();
    let spawn = r#"
        native = "spawn_agent"
        namespace = "team"
        arguments = { message = "${task}" }
        [then]
        native = "wait_agent"
        arguments = { limit = 30, of = "${task}" }
    "#;
    let spawn = toml::from_str(spawn).expect("is a lowering");
    profile.tools.insert("spawn".to_owned(), spawn);
    profile
}

fn spawn() -> CaseCall {
    let arguments = IndexMap::from([("task", LateText::literal("look"))]);
    CaseCall::Logical { tool: "spawn", arguments }
}

fn lowered(calls: Vec<CaseCall>) -> Result<Lowered, LowerError> {
    let turn = CaseTurn { kind: CaseTurnKind::Calls(calls), ..fixture::call_turn("ask", false) };
    let turns = vec![turn, fixture::say_turn("answer")];
    let variant = Variant { turns, ..fixture::case().main };
    script(&variant, &profile(), Wire::Responses, &fixture::places())
}

#[test]
fn what_a_call_begins_is_finished_in_the_next_reply() {
    let lowered = lowered(vec![spawn()]).expect("can be said");
    assert_eq!(lowered.turns, [0, 0, 1]);
    let labels: Vec<&str> = lowered.script.turns.iter().map(|turn| turn.label.as_str()).collect();
    assert_eq!(labels, ["ask", "ask", "answer"]);
    let calls: Vec<String> = lowered
        .script
        .turns
        .iter()
        .flat_map(|turn| &turn.reply.items)
        .filter_map(|item| match item {
            Item::Call(call) => {
                Some(format!("{:?} {} {:?}", call.namespace, call.name, call.payload))
            }
            _ => None,
        })
        .collect();
    insta::assert_debug_snapshot!(calls);
}

#[test]
fn such_a_call_stands_alone() {
    let error = lowered(vec![spawn(), spawn()]).expect_err("are two");
    assert!(matches!(error, LowerError::NotAlone { .. }), "{error}");
}

#[test]
fn the_second_call_is_checked_like_the_first() {
    let mut profile = profile();
    profile.validate().expect("is whole");
    let then = profile.tools["spawn"].then.as_mut().expect("has one");
    then.arguments.insert("wrong".to_owned(), "${command}".into());
    let error = profile.validate().expect_err("has no such value").to_string();
    assert!(error.contains("tools.spawn") && error.contains("command"), "{error}");
}
