//! What a run leaves: the report, the record, `JUnit`, kept folders.

use std::collections::BTreeSet;
use std::fs::{self, File};

use conform_reports::record::Verdict;
use regex::Regex;

use crate::support::{POLITE, Place, last_line, stderr, stdout};

#[test]
fn kept_folders_are_told_and_hold_what_the_agent_printed() {
    let place = Place::new();
    place.agent("ask look\necho Hello.\necho trouble >&2\n");
    let output = place.run(&["--keep"]);
    insta::assert_snapshot!(place.redact(stdout(&output)));
    let told = Regex::new(r"greeting\.hello is kept in (\S+)").unwrap();
    let folder = told.captures(stdout(&output)).unwrap()[1].to_owned();
    let names: BTreeSet<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected = ["agent-stderr.txt", "agent-stdout.txt", "home", "outside", "tmp", "workspace"];
    assert_eq!(names, expected.map(str::to_owned).into());
    let printed = |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap();
    assert_eq!(printed("agent-stdout.txt"), "Hello.\n");
    assert_eq!(printed("agent-stderr.txt"), "trouble\n");
    // The bodies of a case that passed are kept as well.
    let record = place.record();
    let request = &record.cases[0].evidence.values().next().unwrap().requests[0];
    assert!(place.path("record").join(request.body.as_ref().unwrap()).is_file());
}

#[test]
fn a_case_that_is_an_error_is_kept_too() {
    let place = Place::new();
    place.agent("echo '<html>'\ncat > /dev/null\n");
    place.agent_with(crate::support::DIALOGUE, "echo '<html>'\ncat > /dev/null\n");
    let output = place.run(&["--keep"]);
    assert!(matches!(place.verdict(), Verdict::Error { .. }));
    assert!(stdout(&output).contains("main run of greeting.hello is kept in "));
}

#[test]
fn nothing_of_a_case_stays_unless_asked() {
    let place = Place::new();
    place.agent(POLITE);
    place.run(&[]);
    assert_eq!(fs::read_dir(place.path("cache/cases")).unwrap().count(), 0);
    assert!(!place.path("record/bodies").exists());
}

#[test]
fn a_record_without_a_name_goes_below_the_working_folder() {
    let place = Place::new();
    let arguments = ["run", "--agent", "mine", "--profiles", "profiles"];
    place.agent(POLITE);
    for runs in 1..=2 {
        place.conform(&arguments).assert().code(0);
        assert_eq!(fs::read_dir(place.path(".conform/runs")).unwrap().count(), runs);
    }
}

/// The caller's secrets and home reach neither the agent nor what a run leaves.
#[test]
fn the_callers_environment_and_home_stay_the_callers() {
    let place = Place::new();
    place.write("home/.profile", "decoy\n");
    place.scenario("hello", "Say hello.", "expect:\n  - files: {created: [env.txt, home/dot]}\n");
    place.agent("env > env.txt\necho trace > ~/dot\nask look\necho Hello.\n");
    let output = place
        .conform(&crate::support::RUN_MINE)
        .args(["--keep", "--junit", "out.xml"])
        .env("OPENAI_API_KEY", "sk-of-the-caller")
        .env("http_proxy", "http://proxy.of.the.caller:1")
        .env("LD_LIBRARY_PATH", "/of-the-caller")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    let told = Regex::new(r"is kept in (\S+)").unwrap();
    let folder = told.captures(stdout(&output)).unwrap()[1].to_owned();
    let environment = fs::read_to_string(format!("{folder}/workspace/env.txt")).unwrap();
    let names: BTreeSet<_> =
        environment.lines().filter_map(|line| line.split('=').next()).collect();
    // The last four are the shell's own.
    let allowed = ["BASE", "HOME", "PATH", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"].into();
    assert!(names.is_subset(&allowed), "{environment}");
    assert!(environment.contains(&format!("HOME={folder}/home\n")), "{environment}");
    let home: Vec<_> = fs::read_dir(place.path("home")).unwrap().map(Result::unwrap).collect();
    assert_eq!(home.len(), 1, "{home:?}");
    for file in walkdir::WalkDir::new(place.path(".")).into_iter().map(Result::unwrap) {
        if file.file_type().is_file() {
            let text = fs::read(file.path()).unwrap();
            assert!(!String::from_utf8_lossy(&text).contains("of-the-caller"), "{file:?}");
        }
    }
}

#[test]
fn a_report_that_cannot_be_shown_does_not_cost_the_record() {
    let place = Place::new();
    place.agent(POLITE);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = place.command(&crate::support::RUN_MINE).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("the record holds it all"), "{}", stderr(&output));
    assert_eq!(place.verdict().word(), "pass");
    assert!(place.record().finished.is_some());
}

#[test]
fn a_junit_report_that_does_not_fit_is_an_error_after_the_run() {
    let place = Place::new();
    place.agent(POLITE);
    let output = place.run(&["--junit", "/dev/full"]);
    assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
    assert!(stderr(&output).contains("the JUnit report is not complete"), "{}", stderr(&output));
    assert!(last_line(&output).starts_with("gate holds"), "{}", stdout(&output));
    assert!(place.record().finished.is_some());
}
