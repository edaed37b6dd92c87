//! The doctor: what works of an agent, and a profile that no longer describes it.

use std::path::Path;

use crate::support::{Place, stderr, stdout};

/// A profile of the lab agent with one text in the place of another.
fn changed(place: &Place, from: &str, to: &str) {
    let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/lab.toml");
    let profile = std::fs::read_to_string(there).unwrap();
    assert!(profile.contains(from), "{from}");
    place.write("profiles/lab.toml", &profile.replace(from, to));
}

fn doctor(place: &Place, more: &[&str]) -> std::process::Output {
    let arguments = ["agents", "doctor", "--profiles", "profiles"];
    place.conform(&arguments).args(more).output().unwrap()
}

/// The page, without the program's path, which is that of the build.
fn page(place: &Place, output: &std::process::Output) -> String {
    let text = place.redact(stdout(output));
    let lines = text.lines().filter(|line| !line.starts_with("  program: "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_works_is_said_for_each_driver() {
    let place = Place::new();
    let output = doctor(&place, &["lab"]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    insta::assert_snapshot!(page(&place, &output));
}

#[test]
fn a_tool_that_has_another_name_is_profile_drift() {
    let place = Place::new();
    changed(&place, "native = \"read\"", "native = \"read_file\"");
    let output = doctor(&place, &["lab"]);
    assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
    let page = page(&place, &output);
    let lines: Vec<_> =
        page.lines().filter(|line| line.contains("read") || line.contains("help")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn rules_that_stand_elsewhere_are_profile_drift() {
    for (from, to, said) in [
        (
            "rules-authority = \"user\"",
            "rules-authority = \"developer\"",
            "expected the rules of `AGENTS.md` at developer authority, seen at user authority",
        ),
        (
            "rules-frame = \"project_rules\"",
            "rules-frame = \"house_rules\"",
            "expected the rules of `AGENTS.md` in the frame `house_rules`, seen `project_rules`",
        ),
    ] {
        let place = Place::new();
        changed(&place, from, to);
        let output = doctor(&place, &["lab"]);
        assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
        let drift = format!("error: profile drift: {said}");
        assert_eq!(stdout(&output).matches(&drift).count(), 2, "{}", stdout(&output));
    }
}

#[test]
fn what_was_found_is_told_to_programs_as_json() {
    let place = Place::new();
    let output = doctor(&place, &["lab", "--json"]);
    let found: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(found["agent"], "lab");
    assert_eq!(found["launches"][0]["driver"], "jsonl");
    assert_eq!(found["launches"][0]["answers"][0][1]["is"], "works");
    assert_eq!(found["launches"][0]["rules"]["frame"][0], "project_rules");
}

#[test]
fn an_agent_that_never_asks_the_model_works_in_nothing() {
    let place = Place::new();
    place.agent("echo Hello.\n");
    let output = doctor(&place, &["mine"]);
    assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
    let asked = stdout(&output).matches("error: no request reached the model").count();
    // A plain turn, and the one tool of its profile.
    assert_eq!(asked, 2, "{}", stdout(&output));
}

#[test]
fn agents_that_are_not_here_are_named_with_the_next_step() {
    let place = Place::new();
    let output = doctor(&place, &["codex", "pi@0.0.1"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        stderr(&output),
        "error: codex is not installed; run `conform agents install codex`\n\
         error: pi@0.0.1 is not installed; run `conform agents install pi@0.0.1`\n"
    );
    let output = doctor(&place, &["codx"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `codex`"), "{}", stderr(&output));
}
