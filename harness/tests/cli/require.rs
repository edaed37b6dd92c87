//! Agents that are not on the machine: the others run, and `--require` says what that comes to.

use conform_reports::record::NotRun;

use crate::support::{POLITE, Place, stderr, stdout};

/// A place with the agent `mine`, and the profile `gone` of one that is not there.
fn place() -> Place {
    let place = Place::new();
    place.agent(POLITE);
    let gone = std::fs::read_to_string(place.path("profiles/mine.toml")).unwrap();
    let gone = gone.replace("'mine'", "'gone'").replace("bin/mine", "bin/gone");
    place.write("profiles/gone.toml", &gone);
    place
}

/// The agents named in the record as not run, with whether they are required.
fn not_run(place: &Place) -> Vec<(String, bool)> {
    let end = place.record().finished.unwrap();
    end.not_run.into_iter().map(|NotRun { agent, required, .. }| (agent, required)).collect()
}

#[test]
fn the_others_run_and_the_missing_are_told() {
    let place = place();
    let output = place.run(&["--agent", "gone", "--agent", "codex", "--junit", "out.xml"]);
    insta::assert_snapshot!(place.said(&output));
    assert_eq!(not_run(&place), [("gone".to_owned(), true), ("codex".to_owned(), true)]);
    assert_eq!(place.verdict().word(), "pass");
    let report = std::fs::read_to_string(place.path("out.xml")).unwrap();
    assert!(report.contains("name=\"agent codex\"") && report.contains("type=\"not run\""));
    assert_eq!(report.matches("<error").count(), 2, "{report}");
}

#[test]
fn what_is_required_decides() {
    for (require, status) in [("all", 3), ("any", 0), ("mine", 0), ("gone", 3), ("mine,gone", 3)] {
        let place = place();
        let output = place.run(&["--agent", "gone", "--require", require, "--junit", "out.xml"]);
        assert_eq!(output.status.code(), Some(status), "{require}: {}", place.said(&output));
        assert_eq!(not_run(&place), [("gone".to_owned(), status == 3)]);
        let report = std::fs::read_to_string(place.path("out.xml")).unwrap();
        let mark = if status == 3 { "<error" } else { "<skipped" };
        assert!(report.contains(mark), "{require}: {report}");
        assert_eq!(stdout(&output).contains("\n  gone (not required): "), status == 0);
    }
}

#[test]
fn a_broken_must_is_not_hidden_behind_a_missing_agent() {
    let place = place();
    place.agent("ask look\necho Go away.\n");
    assert_eq!(place.run(&["--agent", "gone"]).status.code(), Some(1));
}

#[test]
fn a_run_of_nothing_is_an_error_whatever_is_required() {
    for require in ["all", "any"] {
        let place = place();
        let run = ["run", "--agent", "gone", "--agent", "codex", "--profiles", "profiles"];
        let output = place
            .conform(&run)
            .args(["--record", "record", "--require", require, "--junit", "out.xml"])
            .args(["--jobs", "1"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
        assert_eq!(not_run(&place), [("gone".to_owned(), true), ("codex".to_owned(), true)]);
        let report = std::fs::read_to_string(place.path("out.xml")).unwrap();
        assert_eq!(report.matches("<error").count(), 2, "{report}");
        if require == "any" {
            insta::assert_snapshot!(place.said(&output));
        }
    }
}

#[test]
fn a_damaged_installation_is_not_run() {
    let place = place();
    place.write("cache/agents/codex/0.171.0/other.txt", "no manifest");
    let output = place.run(&["--agent", "codex", "--require", "any"]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    assert!(stderr(&output).contains("not run: codex: the installation "), "{}", stderr(&output));
    assert!(stderr(&output).contains("install it again"), "{}", stderr(&output));
}

#[test]
fn a_missing_agent_named_twice_is_still_bad_input() {
    let place = place();
    let output = place.run(&["--agent", "codex", "--agent", "codex@0.171.0"]);
    assert_eq!(output.status.code(), Some(2), "{}", place.said(&output));
    assert!(stderr(&output).contains("codex@0.171.0 is named twice"), "{}", stderr(&output));
    assert!(!place.path("record").exists(), "something was run");
}
