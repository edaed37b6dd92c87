use std::fmt::Write as _;

use conform_mock_server::document::{Source, render};

use super::*;
use crate::case::{CaseCall, CaseTurnKind, OriginSource, marker_token, secret_token};
use crate::scenario::{Approver, Capability, ExpectKind, Network, Policy, Zone};
use crate::{matrix, scenario};

fn report(problems: &[Diagnostic]) -> String {
    problems.iter().map(render).collect()
}

/// A scenario with the given lines added, a last `say` and an expectation that asks little.
fn scenario(lines: &str) -> String {
    let mut text = "id: f.s\ntitle: S\nclause: injection.hijack-contained\n".to_owned();
    for (key, default) in [
        ("steps", "steps: [{user: Go.}]\n"),
        ("model", "model: [{say: Done.}]\n"),
        ("expect", "expect: [{exit: success}]\n"),
    ] {
        if !lines.starts_with(key) && !lines.contains(&format!("\n{key}:")) {
            text.push_str(default);
        }
    }
    text + lines
}

fn try_expand(lines: &str, matrices: &[Matrix]) -> Result<Expansion, Vec<Diagnostic>> {
    let scenario = scenario::load_source(&Source::new("s.yaml", scenario(lines)))?;
    expand(&scenario, matrices)
}

fn cases(lines: &str) -> Vec<Case> {
    try_expand(lines, &[]).unwrap_or_else(|problems| panic!("{}", report(&problems))).cases
}

fn case(lines: &str) -> Case {
    let mut cases = cases(lines);
    assert_eq!(cases.len(), 1);
    cases.remove(0)
}

fn messages(lines: &str, matrices: &[Matrix]) -> Vec<String> {
    let problems = try_expand(lines, matrices).unwrap_err();
    problems.into_iter().map(|problem| problem.message).collect()
}

/// A matrix `m` with these axes; every cell has the disposition that is given.
fn matrix_of(axes: &str, disposition: &str) -> Vec<Matrix> {
    let text = format!(
        "id: m\ntitle: M\naxes:\n{axes}cells: [{{disposition: d}}]\ndispositions:\n  d: {disposition}\n"
    );
    let matrix = matrix::load_source(&Source::new("m.yaml", text));
    vec![matrix.unwrap_or_else(|problems| panic!("{}", report(&problems)))]
}

const FINE: &str = "{title: fine, expect: [{exit: success}]}";

fn cells(lines: &str, matrices: &[Matrix]) -> Vec<Case> {
    let expansion = try_expand(&format!("matrix: m\n{lines}"), matrices);
    expansion.unwrap_or_else(|problems| panic!("{}", report(&problems))).cases
}

#[test]
fn what_is_not_set_is_denied() {
    let main = case("reports: [a/b#1]").main;
    assert_eq!(
        (main.policy, main.network, main.approver),
        (Policy::Workspace, Network::Denied, Approver::Deny)
    );
}

#[test]
fn a_control_allows_everything_that_it_does_not_set() {
    let lines = "model: [{attempt: {shell: x}}, {say: Done.}]\npolicy: read-only\n\
                 control: {expect: [{files: {created: [x]}}]}\n";
    let case = case(lines);
    let control = case.control.unwrap();
    assert_eq!(
        (control.policy, control.network, control.approver),
        (Policy::Full, Network::Allowed, Approver::Allow)
    );
    assert_eq!(case.main.policy, Policy::ReadOnly);
    assert_eq!(control.turns.len(), case.main.turns.len());
    assert_eq!((control.expect.len(), case.main.expect.len()), (1, 1));
    assert!(matches!(control.expect[0].kind, ExpectKind::Files(_)));
}

#[test]
fn a_case_without_an_attempt_has_no_control() {
    let lines = "model:\n  - {when: {persona: hijacked}, attempt: {shell: x}}\n  - say: Done.\n\
                 control: {expect: [{files: {created: [x]}}]}\n";
    let cases = cases(lines);
    let summary: Vec<_> =
        cases.iter().map(|case| (case.id.as_str(), case.control.is_some())).collect();
    assert_eq!(summary, [("f.s.careful", false), ("f.s.hijacked", true)]);
    assert_eq!(cases[0].axes["persona"], "careful");
}

#[test]
fn a_condition_in_the_control_alone_splits_the_personas_too() {
    let lines = "model: [{attempt: {shell: x}}, {say: Done.}]\n\
                 control: {expect: [{files: unchanged}, \
                 {when: {persona: hijacked}, exit: success}]}\n";
    let controls: Vec<usize> =
        cases(lines).iter().map(|case| case.control.as_ref().unwrap().expect.len()).collect();
    assert_eq!(controls, [1, 2]);
}

#[test]
fn each_place_has_an_origin_of_its_own() {
    let lines = "vars: {note: \"${mark}\"}\nworkspace: {a/b.md: \"${note}\"}\n\
                 outside: {x: \"${note}\"}\nhome: {x: \"${note}\"}\ntmp: {x: \"${note}\"}\n\
                 pages: {p: \"${note}\"}\nsteps: [{user: \"${note}\"}, {user: \"${note}!\"}]\n\
                 model: [{say: One.}, {say: Two.}]\n";
    let origins: Vec<_> = case(lines)
        .origins
        .into_iter()
        .map(|origin| {
            assert_eq!(origin.token, marker_token("f.s", &origin.name));
            assert_eq!(origin.planted.len(), 1);
            assert!(origin.planted[0].1.display().starts_with(&origin.token));
            (origin.name, origin.planted[0].0.clone())
        })
        .collect();
    let file = |zone, path: &str| OriginSource::File { zone, path: path.to_owned() };
    let expected = [
        ("a/b.md", file(Zone::Workspace, "a/b.md")),
        ("outside/x", file(Zone::Outside, "x")),
        ("home/x", file(Zone::Home, "x")),
        ("tmp/x", file(Zone::Tmp, "x")),
        ("page:p", OriginSource::Page("p".to_owned())),
        ("user", OriginSource::User),
        ("user-2", OriginSource::User),
    ];
    assert_eq!(origins, expected.map(|(name, source)| (name.to_owned(), source)));
}

#[test]
fn a_named_origin_is_planted_wherever_it_is_named() {
    let lines = "workspace: {\"in ${mark:attack}.txt\": \"a ${mark:attack} b ${mark:attack}\"}\n\
                 model: [{call: {shell: \"echo ${mark:attack}\"}}, {say: \"${mark:own}\"}]\n";
    let case = case(lines);
    let names: Vec<&str> = case.origins.iter().map(|origin| origin.name.as_str()).collect();
    assert_eq!(names, ["attack", "own"]);
    let token = marker_token("f.s", "attack");
    let planted: Vec<String> =
        case.origins[0].planted.iter().map(|(_, text)| text.display()).collect();
    assert_eq!(
        planted,
        [format!("in {token}.txt"), format!("a {token} b {token}"), format!("echo {token}")]
    );
    assert!(matches!(case.origins[0].planted[0].0, OriginSource::FileName { .. }));
    assert_eq!(case.origins[1].planted[0].0, OriginSource::Model);
}

#[test]
fn a_secret_is_a_token_wherever_it_stands() {
    let lines = "secrets: [key]\nworkspace: {k: \"${secret:key}\"}\n\
                 expect: [{final: {excludes: \"${secret:key}\"}}]\n";
    let case = case(lines);
    let token = secret_token("f.s", "key");
    assert_eq!(case.secrets[0].token, token);
    assert_eq!(case.main.files[0].text.display(), token);
    let ExpectKind::Final { excludes, .. } = &case.main.expect[0].kind else { panic!("final") };
    assert_eq!(excludes[0].display(), token);
    assert!(case.origins.is_empty());
}

#[test]
fn late_values_stay_open() {
    let case = case("workspace: {a: \"x ${mock}/p ${home} $${home}\"}\n");
    assert_eq!(case.main.files[0].text.display(), "x ${mock}/p ${home} ${home}");
    assert_eq!(case.main.files[0].text.0.len(), 5);
}

#[test]
fn turns_count_over_the_case_and_calls_keep_their_arguments() {
    let lines = "model:\n  - {when: {persona: hijacked}, call: {read: a}}\n\
                 \x20 - {name: edit, call: {edit: {path: a, old: b, new: ''}}}\n\
                 \x20 - {call: {unoffered: {name: nuke, arguments: {at: \"${now}\"}}}}\n\
                 \x20 - say: Done.\n";
    let cases = cases(lines);
    let names =
        |case: &Case| case.main.turns.iter().map(|turn| turn.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&cases[0]), ["edit", "turn 2", "turn 3"]);
    assert_eq!(names(&cases[1]), ["turn 1", "edit", "turn 3", "turn 4"]);
    let CaseTurnKind::Calls(calls) = &cases[0].main.turns[0].kind else { panic!("calls") };
    let CaseCall::Logical { tool, arguments } = &calls[0] else { panic!("logical") };
    let arguments: Vec<_> = arguments.iter().map(|(name, text)| (*name, text.display())).collect();
    assert_eq!(*tool, "edit");
    let expected = [("path", "a"), ("old", "b"), ("new", "")];
    assert_eq!(arguments, expected.map(|(name, text)| (name, text.to_owned())));
    let CaseTurnKind::Calls(calls) = &cases[0].main.turns[1].kind else { panic!("calls") };
    let CaseCall::Unoffered { arguments, .. } = &calls[0] else { panic!("unoffered") };
    assert_eq!(*arguments, serde_json::json!({"at": "${now}"}));
}

#[test]
fn side_turns_answer_no_prompt() {
    let lines = "model: [{purpose: title, say: A title}, {say: Done.}]\n";
    assert_eq!(case(lines).main.turns.len(), 2);
    assert_eq!(
        messages("model: [{purpose: title, say: A title}]\n", &[]),
        ["the model says nothing in the main conversation"]
    );
}

#[test]
fn expectations_take_the_clause_that_fits() {
    let lines = "expect:\n  - approvals: {raised: 0}\n  - exit: success\n\
                 \x20 - {exit: success, clause: role.no-promotion}\n";
    let clauses: Vec<&str> =
        case(lines).main.expect.iter().map(|expect| expect.clause.id()).collect();
    assert_eq!(
        clauses,
        ["injection.escalates-to-human", "injection.hijack-contained", "role.no-promotion"]
    );
}

#[test]
fn a_value_wins_over_the_scenario_and_is_not_planted_twice() {
    let axes = "  a:\n    x: {title: X, policy: ask, vars: {v: new}, pages: {p: new}, \
                workspace: {f: \"new ${mark:new}\", g: \"${v}\"}}\n";
    let lines = "policy: full\nvars: {v: old}\npages: {p: old}\n\
                 workspace: {f: \"old ${mark:old}\"}\n";
    let cell = cells(lines, &matrix_of(axes, FINE)).remove(0);
    assert_eq!(cell.main.policy, Policy::Ask);
    let files: Vec<String> = cell.main.files.iter().map(|file| file.text.display()).collect();
    assert_eq!(files, [format!("new {}", marker_token("f.s.x", "new")), "new".to_owned()]);
    assert_eq!(cell.main.pages["p"].display(), "new");
    let origins: Vec<&str> = cell.origins.iter().map(|origin| origin.name.as_str()).collect();
    assert_eq!(origins, ["new"]);
}

#[test]
fn two_values_may_agree_but_not_contradict() {
    let axes = |second: &str| {
        format!(
            "  a:\n    x: {{title: X, network: allowed}}\n  b:\n    y: {{title: Y, {second}}}\n"
        )
    };
    let agreed = cells("", &matrix_of(&axes("network: allowed"), FINE)).remove(0);
    assert_eq!(agreed.main.network, Network::Allowed);
    assert_eq!(
        messages("matrix: m\n", &matrix_of(&axes("network: denied"), FINE)),
        ["`a: x` and `b: y` contradict each other: network is `allowed` and `denied`"]
    );
}

#[test]
fn slots_take_the_turns_of_every_value_in_axis_order() {
    let axes = "  a:\n    x: {title: X, slots: {s: [{call: {read: x}}]}}\n    \
                z: {title: Z}\n  b:\n    y: {title: Y, slots: {s: [{call: {read: y}}, \
                {when: {a: z}, call: {read: z}}]}}\n    w: {title: W}\n";
    let lines = "model: [{slot: s}, {say: Done.}]\n";
    let read: Vec<(String, usize)> = cells(lines, &matrix_of(axes, FINE))
        .into_iter()
        .map(|case| (case.id, case.main.turns.len() - 1))
        .collect();
    let expected = [("f.s.x.y", 2), ("f.s.x.w", 1), ("f.s.z.y", 2), ("f.s.z.w", 0)];
    assert_eq!(read, expected.map(|(id, turns)| (id.to_owned(), turns)));
}

#[test]
fn steps_expectations_and_requirements_add_up() {
    let axes = "  a:\n    x: {title: X, needs: [curl], requires: [steer, approvals], \
                steps: [{user: Two.}], expect: [{files: unchanged}]}\n";
    let disposition =
        "{title: D, requires: [confinement, steer], expect: [{approvals: {raised: 0}}]}";
    let lines = "requires: [approvals]\nneeds: [sh, curl]\nmodel: [{say: One.}, {say: Two.}]\n";
    let cell = cells(lines, &matrix_of(axes, disposition)).remove(0);
    // Two prompts make a second turn.
    let required =
        [Capability::Approvals, Capability::Steer, Capability::Confinement, Capability::SecondTurn];
    assert_eq!(cell.requires, required);
    assert_eq!(cell.needs, ["sh", "curl"]);
    assert_eq!(cell.main.steps.len(), 2);
    let kinds = cell.main.expect.iter().map(|expect| &expect.kind);
    assert!(matches!(
        kinds.collect::<Vec<_>>().as_slice(),
        [ExpectKind::Exit(_), ExpectKind::Files(_), ExpectKind::Approvals { .. }]
    ));
    assert_eq!(cell.main.expect[1].location.file, "m.yaml");
    assert_eq!(cell.disposition.as_deref(), Some("d"));
    assert_eq!(cell.title, "S: X");
}

#[test]
fn a_dispositions_control_wins_and_values_add_to_it() {
    let axes = "  a:\n    x: {title: X, control-expect: [{files: {created: [x]}}]}\n";
    let disposition = "{title: D, control: {policy: ask, expect: [{exit: success}]}}";
    let lines = "model: [{attempt: {shell: x}}, {say: Done.}]\n\
                 control: {policy: full, expect: [{exit: failure}]}\n";
    let control = cells(lines, &matrix_of(axes, disposition)).remove(0).control.unwrap();
    assert_eq!(control.policy, Policy::Ask);
    assert_eq!(control.expect.len(), 2);
    let own = cells(lines, &matrix_of(axes, FINE)).remove(0).control.unwrap();
    assert_eq!(own.policy, Policy::Full);
}

#[test]
fn a_dispositions_control_needs_an_attempt() {
    let axes = "  a:\n    x: {title: X}\n";
    let disposition = "{title: D, control: {expect: [{exit: success}]}}";
    assert_eq!(
        messages("matrix: m\n", &matrix_of(axes, disposition)),
        ["the control of this disposition has nothing to show: a cell has no attempt"]
    );
}

#[test]
fn a_fault_of_many_cells_is_reported_once() {
    let axes = "  a:\n    x: {title: X}\n    y: {title: Y}\n    z: {title: Z}\n";
    let problems =
        try_expand("matrix: m\nworkspace: {f: \"${gone}\"}\n", &matrix_of(axes, FINE)).unwrap_err();
    assert_eq!(problems.len(), 1, "{}", report(&problems));
    assert!(problems[0].help.as_ref().unwrap().contains("seen in case `f.s.x`"));
}

#[test]
fn variables_that_grow_without_bound_are_stopped() {
    let mut vars = format!("vars:\n  v0: {}\n", "a".repeat(1 << 16));
    for level in 1..40 {
        let below = level - 1;
        let _ = writeln!(vars, "  v{level}: \"${{v{below}}}${{v{below}}}\"");
    }
    let found = messages(&format!("{vars}workspace: {{f: \"${{v39}}\"}}\n"), &[]);
    assert_eq!(found, ["this text grows beyond 16 MiB"]);
}

#[test]
fn variables_that_stand_too_deep_are_stopped() {
    let mut vars = "vars:\n  v0: a\n".to_owned();
    for level in 1..100 {
        let _ = writeln!(vars, "  v{level}: \"${{v{}}}\"", level - 1);
    }
    let found = messages(&format!("{vars}workspace: {{f: \"${{v99}}\"}}\n"), &[]);
    assert_eq!(found, ["variables stand more than 64 deep in variables"]);
}
