//! The gate: baselines, severities, repeats, and runs that judged nothing.

use crate::support::{POLITE, Place, last_line, stderr, stdout};

/// A script that does not say hello.
const RUDE: &str = "ask look\necho Go away.\n";

fn baseline(version: &str, clause: &str) -> String {
    format!(
        "schema = 1\nagent = 'mine'\nversion = '{version}'\n[[known]]\ncase = 'greeting.*'\n\
         clause = '{clause}'\nreason = 'it has bad manners'\nevidence = 'its words'\n"
    )
}

/// A place with a script and a baseline file.
fn place(script: &str, baseline: &str) -> Place {
    let place = Place::new();
    place.agent(script);
    place.write("known.toml", baseline);
    place
}

#[test]
fn a_known_gap_leaves_the_gate_standing() {
    let place = place(RUDE, &baseline("1", "role.no-promotion"));
    let output = place.run(&["--baseline", "known.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    assert_eq!(place.verdict().word(), "known");
    insta::assert_snapshot!(place.redact(stdout(&output)));
}

#[test]
fn the_baseline_beside_the_profile_is_used_unless_refused() {
    let place = place(RUDE, "");
    place.write("profiles/baselines/mine-1.toml", &baseline("1", "role.no-promotion"));
    assert_eq!(place.run(&[]).status.code(), Some(0));
    std::fs::remove_dir_all(place.path("record")).unwrap();
    let output = place.run(&["--no-baseline"]);
    assert_eq!(output.status.code(), Some(1), "{}", place.said(&output));
    assert_eq!(place.verdict().word(), "fail");
}

#[test]
fn a_gap_that_is_gone_must_leave_the_baseline() {
    let place = place(POLITE, &baseline("1", "role.no-promotion"));
    let output = place.run(&["--baseline", "known.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stdout(&output);
    assert!(
        said.contains("remove them from the baseline\n  greeting.* (role.no-promotion)"),
        "{said}"
    );
    assert!(last_line(&output).ends_with("1 baseline entry is stale"), "{said}");
    // Where a filter leaves cases out, those may be the ones that an entry for several is about.
    std::fs::remove_dir_all(place.path("record")).unwrap();
    let output = place.run(&["--baseline", "known.toml", "--filter", "hello"]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
}

#[test]
fn a_baseline_that_cannot_be_used_is_bad_input() {
    let mut said = String::new();
    for text in [
        baseline("2", "role.no-promotion"),
        baseline("1", "role.none"),
        "schema = 1\nagent = mine\n".to_owned(),
    ] {
        let place = place(POLITE, &text);
        let output = place.run(&["--baseline", "known.toml"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(!place.path("record").exists(), "something was run");
        said.push_str(&place.redact(stderr(&output)));
    }
    let place = place(POLITE, "");
    let output = place.run(&["--baseline", "nowhere.toml"]);
    assert_eq!(output.status.code(), Some(2));
    said.push_str(&place.redact(stderr(&output)));
    let output = place.run(&["--baseline", "known.toml", "--no-baseline"]);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(said);
}

#[test]
fn a_broken_should_fails_the_gate_only_when_asked() {
    let place = place(RUDE, "");
    place.scenario(
        "hello",
        "Say hello.",
        "expect:\n  - final: {contains: Hello}\n    clause: role.error-is-typed-data\n",
    );
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    assert!(stdout(&output).starts_with("conform ") && stdout(&output).contains("\nWARN "));
    std::fs::remove_dir_all(place.path("record")).unwrap();
    let output = place.run(&["--gate", "should"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(last_line(&output).ends_with("1 case breaks a should"), "{}", last_line(&output));
}

#[test]
fn repeats_run_as_often_as_asked_and_must_agree() {
    let place = Place::new();
    let count = place.path("count").display().to_string();
    place.agent(&format!("echo run >> {count}\n{POLITE}"));
    let output = place.run(&["--repeat", "3", "--isolation", "none"]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "run\nrun\nrun\n");
    std::fs::remove_dir_all(place.path("record")).unwrap();
    std::fs::remove_file(&count).unwrap();
    place.agent(&format!(
        "ask look\nif [ -e {count} ]; then echo Go away.; else echo Hello.; fi\n: > {count}\n"
    ));
    let output = place.run(&["--repeat", "3", "--isolation", "none"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(place.verdict().word(), "flaky");
    let clause = "role.no-promotion";
    let verdicts = format!("verdicts  pass, fail ({clause}), fail ({clause})");
    assert!(stdout(&output).contains(&verdicts), "{}", stdout(&output));
}

#[test]
fn repeats_that_break_other_clauses_disagree() {
    let place = Place::new();
    let count = place.path("count").display().to_string();
    place.scenario(
        "hello",
        "Say hello.",
        "expect:\n  - final: {contains: Hello}\n  - final: {excludes: bye}\n    clause: steer.as-user\n",
    );
    place.agent(&format!(
        "ask look\nif [ -e {count} ]; then echo Hello, bye.; else echo Go away.; fi\n: > {count}\n"
    ));
    let output = place.run(&["--repeat", "2", "--isolation", "none"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(place.verdict().word(), "flaky");
    assert!(stdout(&output).contains(", fail (steer.as-user)"), "{}", stdout(&output));
}

#[test]
fn a_run_in_which_every_case_is_skipped_is_not_green() {
    let place = place(POLITE, "");
    place.scenario("hello", "Say hello.", "requires: [approvals]\n");
    let output = place.run(&["--junit", "out.xml"]);
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(place.redact(stdout(&output)));
    let report = std::fs::read_to_string(place.path("out.xml")).unwrap();
    assert!(report.contains("<error type=\"nothing judged\""), "{report}");
}
