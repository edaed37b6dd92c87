//! The caller's home and project stay as they are and unseen, and nothing goes on running.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::support::Place;

/// Stands in all that must not be seen.
const DECOY: &str = "decoy-5d0c7a41";

/// What a file is: its kind and mode, when it was last changed, and its bytes.
type Entry = (u32, i64, i64, Vec<u8>);

fn inventory(place: &Place) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    for folder in ["home", "project"] {
        for entry in WalkDir::new(place.path(folder)) {
            let entry = entry.unwrap();
            let about = entry.path().symlink_metadata().unwrap();
            let bytes = if about.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            found.insert(
                entry.into_path(),
                (about.mode(), about.mtime(), about.mtime_nsec(), bytes),
            );
        }
    }
    found
}

/// A home and a project that an agent would read if they were its own.
fn plant(place: &Place) {
    for path in ["home/.gitconfig", "home/AGENTS.md", "project/AGENTS.md", "project/src/main.rs"] {
        place.write(path, DECOY);
    }
}

fn conform(place: &Place, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = place.conform(arguments);
    command
        .current_dir(place.path("project"))
        .env("OPENAI_API_KEY", DECOY)
        .env("LAB_SETTING", DECOY);
    command
}

/// Processes whose environment names this place, other than this test's own children that it has
/// waited for.
fn left_running(place: &Place) -> Vec<String> {
    let cases = place.path("cache").canonicalize().unwrap();
    let names_it = |process: &Path| {
        // A process that is gone, or another user's, cannot be read.
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(cases.to_str().unwrap())
    };
    fs::read_dir("/proc")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|process| names_it(process))
        .map(|process| process.display().to_string())
        .collect()
}

#[test]
fn all_scenarios_leave_the_callers_home_and_project_alone() {
    let place = Place::new();
    place.borrow_scenarios();
    plant(&place);
    let before = inventory(&place);
    let output = conform(&place, &["run", "../scenarios", "--record", "../record", "--keep"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    assert_eq!(inventory(&place), before);
    assert_eq!(left_running(&place), Vec::<String>::new());

    let mut bodies = 0;
    for entry in WalkDir::new(place.path("record")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            bodies += 1;
            let text = fs::read_to_string(entry.path()).unwrap();
            assert!(!text.contains(DECOY), "{}", entry.path().display());
        }
    }
    assert!(bodies > 500, "the requests were kept: {bodies}");
}

#[test]
fn what_an_agent_does_outside_of_its_case_is_not_done() {
    let place = Place::new();
    plant(&place);
    let before = inventory(&place);
    let home = place.path("home");
    place.agent(&format!("ask look\necho Hello.\ntouch {}/left\n", home.display()));
    let run = |isolation| {
        let profiles = place.path("profiles");
        let arguments =
            ["run", "../scenarios", "--agent", "mine", "--profiles", profiles.to_str().unwrap()];
        let more = ["--record", "../record", "--isolation", isolation];
        let output = conform(&place, &arguments).args(more).output().unwrap();
        fs::remove_dir_all(place.path("record")).unwrap();
        place.said(&output)
    };
    let said = run("auto");
    if said.contains("files outside of the case read-only") {
        assert_eq!(inventory(&place), before);
    } else {
        println!("skipped: {said}");
    }
    // The machine's own files could be changed, and it would be seen.
    run("none");
    let after = inventory(&place);
    assert_eq!(after.len(), before.len() + 1);
    assert!(after.contains_key(&home.join("left")));
}

#[test]
fn what_an_agent_starts_ends_with_its_case() {
    let place = Place::new();
    place.agent(
        "setsid sleep 1000 </dev/null >/dev/null 2>&1 &\n\
         (setsid sh -c 'sleep 1000 & sleep 1000' </dev/null >/dev/null 2>&1 &)\n\
         ask look\necho Hello.\n",
    );
    place.run(&[]);
    assert_eq!(place.record().cases.len(), 1);
    assert_eq!(left_running(&place), Vec::<String>::new());
}
