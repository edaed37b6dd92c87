//! Bad input: what, where, and what to do; exit status 2 or 4; nothing is run.

use std::net::TcpListener;

use predicates::prelude::*;
use predicates::str::contains;

use crate::support::{POLITE, Place, RUN_MINE, stderr};

/// What is said on standard error to someone who types this.
fn complaint(place: &Place, arguments: &[&str], status: i32) -> String {
    let output = place.conform(arguments).output().unwrap();
    let said = place.redact(stderr(&output));
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    format!("$ conform {}\n{said}", arguments.join(" "))
}

fn complaints(place: &Place, commands: &[&[&str]], status: i32) -> String {
    let all: Vec<_> = commands.iter().map(|command| complaint(place, command, status)).collect();
    all.join("\n")
}

#[test]
fn a_broken_scenario_is_shown_with_a_caret_by_every_command() {
    let place = Place::new();
    place.write("broken/one.yaml", "id: broken.one\ntitle: Broken\nclause: role.no-promotoin\n");
    let commands: [&[&str]; 4] = [
        &["run", "broken"],
        &["list", "broken"],
        &["check", "broken"],
        &["explain", "broken.one", "broken"],
    ];
    let said = complaints(&place, &commands, 2);
    assert_eq!(said.matches("^^^").count() / 4, said.matches("^^^").count().div_ceil(4), "{said}");
    insta::assert_snapshot!(said);
    assert!(!place.path(".conform").exists(), "something was run");
}

#[test]
fn an_agent_that_no_profile_knows_is_named_with_the_next_step() {
    let place = Place::new();
    place.agent(POLITE);
    place.write("profiles/torn.toml", "schema = 1\nname = 'torn\n");
    let commands: [&[&str]; 9] = [
        &["run", "--agent", "lba"],
        &["run", "--agent", "codex@0.0.1"],
        &["run", "--agent", "codex@0.0.1", "--profiles", "profiles", "--require", "any"],
        &["run", "--agent", "codex@newest"],
        &["run", "--agent", "lab@0.0.0"],
        &["run", "--agent", "torn", "--profiles", "profiles"],
        &["run", "--agent", "lab", "--agent", "lab"],
        &["run", "--require", "codex"],
        &["run", "--require", "lab,"],
    ];
    insta::assert_snapshot!(complaints(&place, &commands, 2));
    assert!(!place.path(".conform").exists(), "something was run");
}

#[test]
fn a_wrong_word_on_the_command_line_is_named_with_the_next_step() {
    let place = Place::new();
    place.agent(POLITE);
    let commands: [&[&str]; 12] = [
        &["run", "--defect", "result-as-usr"],
        &["run", "--agent", "mine", "--profiles", "profiles", "--defect", "result-as-user"],
        &["run", "--filtre", "hello"],
        &["run", "--filter", "greeting.["],
        &["run", "--agent", "@1"],
        &["run", "--jobs", "0"],
        &["run", "--repeat", "0"],
        &["run", "--time-limit", "0"],
        &["run", "--gate", "strict"],
        &["rnu"],
        &["explain", "role.no-promotoin"],
        &["explain", "greeting"],
    ];
    insta::assert_snapshot!(complaints(&place, &commands, 2));
}

#[test]
fn a_path_without_anything_in_it_is_named() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    let commands: [&[&str]; 9] = [
        &["run", "nowhere"],
        &["run", "empty"],
        &["list", "nowhere"],
        &["list", "empty"],
        &["check", "nowhere"],
        &["check", "empty"],
        &["explain", "greeting.hello", "nowhere"],
        &["explain", "role.no-promotion", "nowhere"],
        &["serve", "nowhere.yaml"],
    ];
    let said: Vec<_> = commands
        .iter()
        .map(|command| {
            let output = place.conform(command).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{command:?}");
            format!("$ conform {}\n{}", command.join(" "), stderr(&output))
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_selection_of_nothing_is_neither_good_nor_bad_input() {
    let place = Place::new();
    let commands: [&[&str]; 2] =
        [&["run", "--filter", "nothing-like-it"], &["list", "--filter", "nothing-like-it"]];
    insta::assert_snapshot!(complaints(&place, &commands, 4));
    assert!(!place.path(".conform").exists(), "something was run");
}

#[test]
fn a_record_is_put_in_a_new_place_or_nowhere() {
    let place = Place::new();
    place.agent(POLITE);
    place.write("file", "mine\n");
    let run = |record: &str| {
        let mut arguments = RUN_MINE;
        arguments[6] = record;
        place.conform(&arguments).output().unwrap()
    };
    for folder in ["file/below", "/proc/none"] {
        let output = run(folder);
        assert_eq!(output.status.code(), Some(2));
        assert!(contains("name a folder that can be written to").eval(stderr(&output)));
        assert!(output.stdout.is_empty(), "something was run");
    }
    assert_eq!(run("record").status.code(), Some(0));
    let before = std::fs::read(place.path("record/record.jsonl")).unwrap();
    let again = run("record");
    assert_eq!(again.status.code(), Some(2));
    assert!(contains("is the record of an earlier run; name another").eval(stderr(&again)));
    assert_eq!(std::fs::read(place.path("record/record.jsonl")).unwrap(), before);
}

#[test]
fn a_junit_report_that_cannot_be_written_stops_the_run_before_it_begins() {
    let place = Place::new();
    place.agent(POLITE);
    let output = place.run(&["--junit", "nowhere/out.xml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        contains("cannot write the JUnit report nowhere/out.xml; name a file in a folder")
            .eval(stderr(&output))
    );
    assert!(!place.path("record").exists(), "a record was begun in vain");
    // And the report of an earlier run stays when the record has no place.
    let report = place.write("out.xml", "earlier");
    place.write("record/record.jsonl", "earlier");
    let output = place.run(&["--junit", "out.xml"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(report).unwrap(), "earlier");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let place = Place::new();
    place.write("script.yaml", "turns: [{say: Hello}]");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    place
        .conform(&["serve", "script.yaml", "--port", &port])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("is taken by another process; choose another port"));
    place.write("script.yaml", "turns: [{sya: Hello}]");
    place
        .conform(&["serve", "script.yaml"])
        .assert()
        .code(2)
        .stderr(contains("script.yaml:1:").and(contains("^^^")).and(contains("`say`")));
}
