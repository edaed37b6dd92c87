//! The commands that only say something: help, list, explain, check, agents.

use std::os::fd::OwnedFd;

use crate::support::{POLITE, Place, stderr, stdout};

/// What is said on standard output; the command succeeds.
fn said(place: &Place, arguments: &[&str]) -> String {
    let output = place.conform(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    place.redact(stdout(&output))
}

#[test]
fn help_tells_a_new_user_what_to_do() {
    let place = Place::new();
    insta::assert_snapshot!("help", said(&place, &["--help"]));
    insta::assert_snapshot!("help_run", said(&place, &["run", "--help"]));
    let others = ["list", "check", "explain", "bisect", "agents", "schema", "serve"]
        .map(|command| said(&place, &[command, "--help"]));
    insta::assert_snapshot!("help_others", others.join("\n==========\n\n"));
}

#[test]
fn list_shows_each_case_and_what_is_left_out() {
    let place = Place::new();
    place.borrow_scenarios();
    let output = place.conform(&["list", "--filter", "role."]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let mut ids: Vec<_> = stdout(&output).lines().collect();
    assert!(ids.len() >= 5 && ids.iter().all(|id| id.starts_with("role.")), "{ids:?}");
    assert!(stderr(&output).starts_with(&format!("{} cases selected", ids.len())));
    ids.dedup();
    assert_eq!(ids.len(), stdout(&output).lines().count());
    let plain = said(&place, &["list"]);
    let all = said(&place, &["list", "--excluded"]);
    assert!(!plain.contains("excluded  "));
    let (excluded, cases): (Vec<_>, Vec<_>) =
        all.lines().partition(|line| line.starts_with("excluded  "));
    assert_eq!(cases, plain.lines().collect::<Vec<_>>());
    assert!(!excluded.is_empty());
    for line in excluded {
        let parts: Vec<_> = line.splitn(3, "  ").collect();
        assert!(parts.len() == 3 && !parts[2].is_empty(), "no reason: {line}");
    }
}

#[test]
fn explain_says_what_a_clause_and_a_case_are_about() {
    let place = Place::new();
    place.borrow_scenarios();
    insta::assert_snapshot!("explain_clause", said(&place, &["explain", "role.frame-holds"]));
    insta::assert_snapshot!("explain_case", said(&place, &["explain", "approval.denied-write"]));
    let id = "injection.matrix.indirect.file-read.write-canary.hijacked.ask";
    insta::assert_snapshot!("explain_matrix_case", said(&place, &["explain", id]));
    // Where there are no scenarios, a clause is known all the same.
    std::fs::remove_file(place.path("scenarios")).unwrap();
    assert!(said(&place, &["explain", "role.frame-holds"]).starts_with("role.frame-holds  ("));
}

#[test]
fn check_counts_what_it_looked_at_and_finds_what_is_wrong() {
    let place = Place::new();
    place.agent(POLITE);
    assert_eq!(
        said(&place, &["check"]),
        "1 scenario with 1 case (0 cells excluded), 0 matrices, 0 profiles, 0 baselines: \
         no problems\n"
    );
    assert!(said(&place, &["check", "profiles"]).contains("1 profile,"));
    assert!(said(&place, &["check", "--coverage"]).contains("clauses have a case\n"));
    place.write("profiles/mine.toml", "schema = 1\nname = mine\n");
    place.write("profiles/baselines/mine-1.toml", "schema = 1\nagnet = 'mine'\n");
    let output = place.conform(&["check", "scenarios", "profiles"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!("check_problems", place.redact(stderr(&output)));
}

/// What is said of one agent.
fn paragraph(listing: &str, agent: &str) -> String {
    let mut lines = listing.lines().skip_while(|line| !line.starts_with(&format!("{agent}  ")));
    let title = lines.next().unwrap();
    let rest = lines.take_while(|line| line.starts_with("  "));
    std::iter::once(title).chain(rest).collect::<Vec<_>>().join("\n")
}

#[test]
fn agents_are_listed_with_what_is_here() {
    let place = Place::new();
    place.agent(POLITE);
    let list = ["agents", "list", "--profiles", "profiles"];
    let listing = said(&place, &list);
    assert!(
        paragraph(&listing, "codex").contains("\n  not installed; run `conform agents install")
    );
    insta::assert_snapshot!(
        "agents",
        ["lab", "mine"].map(|name| paragraph(&listing, name)).join("\n")
    );
    // What is wrong with one does not keep the others from being shown.
    place.write("cache/agents/codex/1.2.3/other.txt", "no manifest");
    std::fs::remove_file(place.path("bin/mine")).unwrap();
    let listing = said(&place, &list);
    let codex = paragraph(&listing, "codex");
    assert!(codex.contains("1.2.3 (") && codex.contains("install it again"), "{codex}");
    assert!(paragraph(&listing, "mine").contains("\n  not on this machine: "), "{listing}");
}

#[test]
fn the_form_of_a_profile_is_printed_as_json() {
    let printed = said(&Place::new(), &["schema", "profile"]);
    let schema: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(schema["title"], "Profile");
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    place.borrow_scenarios();
    let (reader, writer) = nix::unistd::pipe().unwrap();
    drop::<OwnedFd>(reader);
    let output = place.command(&["list"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}
