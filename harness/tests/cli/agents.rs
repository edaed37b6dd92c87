//! Agents that misbehave: an error that says what happened, never a pass, and nothing left running.

use conform_reports::record::{ErrorKind, Verdict};

use crate::support::{DIALOGUE, LINES, Leash, POLITE, Place, TEXT, stdout};

/// Runs a script on the scenario `hello`; gives what is said and the kind of error.
fn error_of(driver: &str, script: &str) -> (String, ErrorKind) {
    let place = Place::new();
    place.agent_with(driver, script);
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
    let Verdict::Error { kind, .. } = place.verdict() else {
        panic!("no error: {}", place.said(&output))
    };
    (place.redact(stdout(&output)), kind)
}

#[test]
fn an_agent_that_dies_before_it_asks_says_nothing_about_itself() {
    for script in ["exit 0", "echo no key >&2; exit 7", "echo Hello.", "kill -SEGV $$"] {
        let (said, kind) = error_of(TEXT, script);
        assert_eq!(kind, ErrorKind::NoRequest, "{said}");
    }
    let (said, _) = error_of(TEXT, "echo no key >&2; exit 7");
    insta::assert_snapshot!(said);
}

#[test]
fn an_agent_that_crashes_in_a_turn_is_an_error() {
    let (said, kind) = error_of(TEXT, "ask look\nkill -SEGV $$\n");
    assert_eq!(kind, ErrorKind::Crash, "{said}");
    insta::assert_snapshot!(said);
}

#[test]
fn an_agent_that_hangs_meets_the_time_limit_and_is_gone() {
    let place = Place::new();
    let leash = Leash::new(place.path("leash"));
    place.agent(&format!(
        "exec 9>{}\necho began >&9\nsleep 60\necho outlived >&9\n",
        place.path("leash").display()
    ));
    let output = place.run(&["--time-limit", "1"]);
    // On a busy machine the time may be up before the script began.
    assert!(["began\n", ""].contains(&leash.end().as_str()), "the agent outlived the run");
    let Verdict::Error { kind: ErrorKind::TimeLimit, .. } = place.verdict() else {
        panic!("{}", place.said(&output))
    };
    insta::assert_snapshot!(place.said(&output));
}

#[test]
fn an_agent_that_prints_garbage_is_no_verdict_on_it() {
    let garbage = "ask look\nhead -c 3000 /dev/urandom\necho '{\"type\": [\"final\"'\n";
    let (said, kind) = error_of(LINES, garbage);
    assert_eq!(kind, ErrorKind::Output, "{said}");
    let (said, kind) = error_of(DIALOGUE, "echo '<html>'\ncat > /dev/null\n");
    assert_eq!(kind, ErrorKind::Output, "{said}");
    insta::assert_snapshot!(said);
}

#[test]
fn what_an_agent_leaves_running_is_found_and_ended() {
    let place = Place::new();
    let leash = Leash::new(place.path("leash"));
    let pipe = place.path("leash").display().to_string();
    place.agent(&format!(
        "mkfifo \"$TMPDIR/up\"\n\
         setsid sh -c 'exec 9>{pipe}; echo up >&9; : >\"$TMPDIR/up\"; sleep 60; echo outlived >&9' \
         >/dev/null 2>&1 </dev/null &\n\
         cat \"$TMPDIR/up\"\n{POLITE}"
    ));
    let output = place.run(&[]);
    assert_eq!(leash.end(), "up\n", "{}", place.said(&output));
    let record = place.record();
    let evidence = record.cases[0].evidence.values().next().unwrap();
    assert_eq!(evidence.leftovers, ["sh", "sleep"], "{}", place.said(&output));
}

#[test]
fn an_agent_that_offers_other_tools_is_profile_drift() {
    let place = Place::new();
    place.scenario(
        "hello",
        "Read a.txt.",
        "workspace: {a.txt: a}\nmodel:\n  - call: {read: a.txt}\n  - say: Hello.\n",
    );
    place.agent("ask glance\nask glance\necho Hello.\n");
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(3));
    insta::assert_snapshot!(place.redact(stdout(&output)));
}

#[test]
fn an_agent_that_asks_too_often_has_left_the_script() {
    let (said, kind) = error_of(TEXT, "ask look\nask look\necho Hello.\n");
    assert_eq!(kind, ErrorKind::Script, "{said}");
    insta::assert_snapshot!(said);
}

#[test]
fn a_program_that_this_machine_cannot_run_is_an_error_with_its_path() {
    let place = Place::new();
    place.agent(POLITE);
    place.write("bin/mine", "#!/no/such/interpreter\n");
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(3));
    insta::assert_snapshot!(place.redact(stdout(&output)));
}

#[test]
fn a_case_that_went_wrong_does_not_cost_the_others() {
    let place = Place::new();
    place.scenario("a-crash", "Crash.", "");
    place.agent("case $1 in Crash.) kill -SEGV $$ ;; esac\nask look\necho Hello.\n");
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
    let verdicts: Vec<_> = place.record().cases.iter().map(|case| case.verdict.word()).collect();
    assert_eq!(verdicts, ["error", "pass"]);
}
