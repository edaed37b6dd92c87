//! `conform bisect` with a small script in npm's place: its versions, and what becomes of them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use conform_reports::record::{self, Verdict};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Place, stderr, stdout};

/// Lists versions, and lays out a program that is told its version by the folder it is in.
const NPM: &str = r#"#!/bin/sh
here=$(dirname "$0")
case $1 in
view)
    cat "$here/versions" ;;
install)
    for spec; do :; done
    version=${spec##*@}
    if grep -qx "$version" "$here/broken"; then
        echo "npm error code E418" >&2
        echo "npm error the tarball of $version is torn" >&2
        exit 1
    fi
    mkdir -p node_modules/tool
    cp "$here/mine" node_modules/tool/tool
    printf '{"packages": {"node_modules/tool": {"version": "%s"}}}' "$version" >package-lock.json ;;
esac
"#;

/// The versions as npm gives them, in no good order.
const VERSIONS: &str =
    r#"["1.0.0", "1.10.0", "1.1.0", "1.2.0", "1.3.0-rc.1", "1.3.0", "1.4.0", "1.5.0", "2.0.0"]"#;

/// A program of which each version does what `case` says of it.
fn program(case: &str) -> String {
    format!(
        "version=${{0%/node_modules/*}}\nversion=${{version##*/}}\n\
         case $version in\n{case}\n*) ask look; echo 'Hello, world.' ;;\nesac\n"
    )
}

/// Rude from 1.3.0 on.
const RUDE: &str = "1.[345].0|1.10.0|2.0.0) ask look; echo 'Go away.' ;;";

/// A place with the agent `tool`, which npm installs; these versions cannot be installed.
fn place(case: &str, broken: &[&str]) -> Place {
    let place = Place::new();
    place.agent(&program(case));
    let npm = place.write("bin/npm", NPM);
    fs::set_permissions(npm, fs::Permissions::from_mode(0o755)).unwrap();
    place.write("bin/versions", VERSIONS);
    place.write("bin/broken", &broken.join("\n"));
    let mine = fs::read_to_string(place.path("profiles/mine.toml")).unwrap();
    let (head, tail) = mine.split_once("[install]").unwrap();
    let drivers = tail.find("[[drivers]]").unwrap();
    let profile = format!(
        "{}[install]\nsource = 'npm'\npackage = 'tool'\nexecutable = 'node_modules/tool/tool'\n{}",
        head.replace("'mine'", "'tool'").replace("['1']", "['1.0.0']"),
        &tail[drivers..]
    );
    place.write("profiles/tool.toml", &profile);
    place
}

/// `PATH`, with the place's npm before all others.
fn path(place: &Place) -> std::ffi::OsString {
    let others = std::env::var_os("PATH").unwrap();
    let all = std::iter::once(place.path("bin")).chain(std::env::split_paths(&others));
    std::env::join_paths(all).unwrap()
}

fn command(place: &Place, good: &str, bad: &str) -> std::process::Command {
    let mut command =
        place.command(&["bisect", "--agent", "tool", "--profiles", "profiles", "hello"]);
    command.args(["--good", good, "--bad", bad, "--record", "record"]).env("PATH", path(place));
    command
}

fn bisect(place: &Place, good: &str, bad: &str, more: &[&str]) -> Output {
    command(place, good, bad).args(more).output().unwrap()
}

/// The versions that have a record.
fn recorded(place: &Place) -> BTreeSet<String> {
    let entries = fs::read_dir(place.path("record")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_first_version_that_differs_is_found() {
    let place = place(RUDE, &[]);
    // What a baseline knows of is a fail all the same.
    place.write(
        "profiles/baselines/tool-1.4.0.toml",
        "schema = 1\nagent = 'tool'\nversion = '1.4.0'\n[[known]]\ncase = 'greeting.*'\n\
         clause = 'role.no-promotion'\nreason = 'bad manners'\nevidence = 'its words'\n",
    );
    let output = bisect(&place, "1.0.0", "2.0.0", &[]);
    insta::assert_snapshot!(place.said(&output));
    // 1.5.0 and 1.1.0 need not be tried, and were not installed; nor was the pre-release.
    assert_eq!(
        recorded(&place),
        ["1.0.0", "1.2.0", "1.3.0", "1.4.0", "2.0.0"].map(str::to_owned).into()
    );
    assert!(!place.path("cache/agents/tool/1.1.0").exists());
    let record = record::read(&place.path("record/1.3.0")).unwrap();
    assert_eq!(record.header.agents[0].to_string(), "tool@1.3.0");
    assert!(record.finished.is_some() && matches!(record.cases[0].verdict, Verdict::Fail { .. }));
    let request = &record.cases[0].evidence.values().next().unwrap().requests[0];
    assert!(place.path("record/1.3.0").join(request.body.as_ref().unwrap()).is_file());
}

#[test]
fn a_fix_is_found_as_well_and_neighbours_need_no_search() {
    let place = place("1.0.0|1.1.0) ask look; echo 'Go away.' ;;", &[]);
    let output = bisect(&place, "1.1.0", "1.2.0", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    let said = stdout(&output);
    assert!(said.contains("1.2.0 is the first version that differs; 1.1.0 is the last before it"));
    assert_eq!(recorded(&place).len(), 2);
}

#[test]
fn other_clauses_broken_are_another_verdict() {
    let place = place(
        "1.[012].0) ask look; echo Hello. ;;\n1.[345].0|1.10.0|2.0.0) ask look; echo world. ;;",
        &[],
    );
    place.scenario(
        "hello",
        "Say hello.",
        "expect:\n  - final: {contains: Hello}\n  - final: {contains: world}\n    \
         clause: role.error-is-typed-data\n",
    );
    let output = bisect(&place, "1.0.0", "2.0.0", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    let said = stdout(&output);
    assert!(said.contains("\n  1.2.0   fail  role.error-is-typed-data\n"), "{said}");
    assert!(said.contains("\n  1.3.0   fail  role.no-promotion\n"), "{said}");
    assert!(said.contains("1.3.0 is the first version that differs; 1.2.0 is"), "{said}");
}

#[test]
fn versions_without_a_verdict_are_passed_over() {
    // 1.4.0 cannot be installed, 1.5.0 does not start: neither is in the way.
    let place = place(&format!("1.5.0) exit 7 ;;\n{RUDE}"), &["1.4.0"]);
    let output = bisect(&place, "1.0.0", "2.0.0", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    assert!(stdout(&output).contains("1.3.0 is the first version that differs; 1.2.0 is"));
    assert!(!place.path("record/1.4.0").exists());
}

#[test]
fn where_only_those_are_left_the_range_is_said() {
    let place = place(&format!("1.3.0) exit 7 ;;\n{RUDE}"), &["1.2.0"]);
    let output = bisect(&place, "1.0.0", "2.0.0", &[]);
    insta::assert_snapshot!(place.said(&output));
}

#[test]
fn a_flaky_verdict_is_none() {
    let place = place("", &[]);
    let count = place.path("count").display().to_string();
    let flaky = format!(
        "1.2.0) ask look; if [ -e {count} ]; then echo Hello.; else echo Go away.; fi; : >{count} ;;\n\
         1.3.0) ask look; echo 'Go away.' ;;"
    );
    place.agent(&program(&flaky));
    let output = bisect(&place, "1.1.0", "1.3.0", &["--repeat", "2", "--isolation", "none"]);
    assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
    assert!(
        stdout(&output).contains("1.2.0  no verdict: flaky: fail (role.no-promotion), pass"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn ends_that_do_not_differ_or_have_no_verdict_say_nothing() {
    let place = place(&format!("1.1.0) exit 7 ;;\n{RUDE}"), &["1.4.0"]);
    let mut said = String::new();
    for (good, bad) in [("1.0.0", "1.2.0"), ("1.1.0", "2.0.0"), ("1.0.0", "1.4.0")] {
        let output = bisect(&place, good, bad, &[]);
        assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
        said.push_str(&place.said(&output));
        said.push('\n');
        fs::remove_dir_all(place.path("record")).unwrap();
    }
    insta::assert_snapshot!(said);
}

#[test]
fn bad_input_is_named_with_the_next_step() {
    let place = place(RUDE, &[]);
    place.scenario("hello-again", "Say hello.", "");
    let tool = ["--agent", "tool", "--profiles", "profiles"];
    let commands: [&[&str]; 10] = [
        &["hello", "--good", "1.0.0", "--bad", "2.0.0"],
        &["goodbye", "--good", "1.0.0", "--bad", "2.0.0"],
        &["greeting.hello", "--good", "2.0.0", "--bad", "1.0.0"],
        &["greeting.hello", "--good", "1.0.0", "--bad", "1.6.0"],
        &["greeting.hello", "--good", "1.0", "--bad", "2.0.0"],
        &["greeting.hello", "--good", "1.0.0", "--bad", "2.0.0", "--wire", "messages"],
        &["greeting.hello", "--good", "1.0.0", "--bad", "2.0.0", "--record", "profiles"],
        &["greeting.hello", "--good", "1.0.0", "--bad", "2.0.0", "--scenarios", "nowhere"],
        &["greeting.hello", "--good", "1.0.0"],
        &["--good", "1.0.0", "--bad", "2.0.0"],
    ];
    let others: [&[&str]; 3] = [
        &["bisect", "greeting.hello", "--good", "1.0.0", "--bad", "2.0.0", "--agent", "lab"],
        &["bisect", "greeting.hello", "--good", "1.0.0", "--bad", "2.0.0", "--agent", "tool@1.0.0"],
        &["bisect", "greeting.hello", "--good", "1.0.0", "--bad", "2.0.0", "--agent", "toll"],
    ];
    let all = commands
        .iter()
        .map(|command| [&["bisect"][..], &tool, command].concat())
        .chain(others.iter().map(|command| command.to_vec()));
    let said = all.map(|command| {
        let output = place.command(&command).env("PATH", path(&place)).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}: {}", place.said(&output));
        assert!(output.stdout.is_empty(), "{}", place.said(&output));
        format!("$ conform {}\n{}", command.join(" "), stderr(&output))
    });
    insta::assert_snapshot!(place.redact(&said.collect::<Vec<_>>().join("\n")));
    assert!(!place.path("cache/agents").exists(), "something was installed");
}

#[test]
fn a_registry_that_does_not_answer_leaves_it_open() {
    let place = place(RUDE, &[]);
    place.write("bin/npm", "#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\nexit 1\n");
    let output = bisect(&place, "1.0.0", "2.0.0", &[]);
    assert_eq!(output.status.code(), Some(3), "{}", place.said(&output));
    assert!(
        stderr(&output).contains("npm cannot reach its registry for tool"),
        "{}",
        stderr(&output)
    );
    assert!(!place.path("record").exists(), "something was run");
}

#[test]
fn an_interrupt_says_how_far_it_came() {
    let place = place("", &[]);
    let pipe = place.path("leash");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let stands = format!("1.3.0) exec 9>{}\necho up >&9\nsleep 60 ;;\n{RUDE}", pipe.display());
    place.agent(&program(&stands));
    // 1.4.0 is rude, 1.2.0 is not: then 1.3.0 stands.
    let child = command(&place, "1.0.0", "2.0.0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(File::open(pipe).unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", place.said(&output));
    let last = stdout(&output).lines().last().unwrap();
    assert_eq!(
        last,
        "interrupted: the first version that differs comes after 1.2.0, and is 1.4.0 at the latest"
    );
    let record = record::read(&place.path("record/1.3.0")).unwrap();
    assert!(record.finished.unwrap().interrupted);
}

#[test]
fn each_version_is_taken_as_the_profile_says_of_it() {
    let place = place("*) ask look; echo \"$GREETING, world.\" ;;", &[]);
    let profile = fs::read_to_string(place.path("profiles/tool.toml")).unwrap();
    let profile = profile
        .replace("'node_modules/tool/tool'", "'node_modules/tool/moved'")
        .replace("BASE = ", "GREETING = 'Goodbye'\nBASE = ");
    place.write(
        "profiles/tool.toml",
        &format!(
            "{profile}\n[[changed]]\nbefore = '1.4.0'\n\
             install = {{ executable = 'node_modules/tool/tool' }}\n\
             [[changed]]\nbefore = '1.3.0'\nenvironment = {{ GREETING = 'Hello' }}\n"
        ),
    );
    let output = bisect(&place, "1.0.0", "1.3.0", &[]);
    let said = place.said(&output);
    assert!(said.contains("1.3.0 is the first version that differs"), "{said}");
    for (version, status) in [("1.2.0", 0), ("1.3.0", 1)] {
        let agent = format!("tool@{version}");
        let run = ["run", "--agent", &agent, "--profiles", "profiles"];
        let output = place.command(&run).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{}", place.said(&output));
    }
    // The program is looked for where this version has it.
    let install = ["agents", "install", "tool@1.4.0", "--profiles", "profiles"];
    let output = place.command(&install).env("PATH", path(&place)).output().unwrap();
    let said = place.said(&output);
    assert!(said.contains("node_modules/tool/moved") && !output.status.success(), "{said}");
    let list = ["agents", "list", "--profiles", "profiles"];
    let said = place.said(&place.command(&list).output().unwrap());
    assert!(said.contains("  changed in: 1.3.0, 1.4.0\n"), "{said}");
}
