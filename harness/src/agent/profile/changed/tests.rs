use proptest::prelude::*;

use super::*;

const BASE: &str = r#"
schema = 1
name = "tool"
title = "Tool"
versions = ["2.0.0"]

[install]
source = "npm"
package = "tool"
executable = "new/*/tool"

[[drivers]]
driver = "exec"
wires = ["chat", "responses"]
arguments = ["run", "--new", "${prompt}"]
capabilities = ["project-rules"]

[drivers.output]
format = "text"

[[drivers]]
driver = "jsonl"
wires = ["chat"]
arguments = ["lines"]
capabilities = []

[environment]
HOME = "${home}"
KEY = "${api_key}"

[[files]]
path = "home/a"
text = "new a"

[[files]]
path = "home/b"
text = "new b"

[policy.full]
arguments = ["--yes"]

[tools.shell]
native = "bash"
arguments = { command = "${command}", timeout = 1 }
"#;

fn file(overlays: &str) -> ProfileFile {
    ProfileFile::parse(&format!("{BASE}{overlays}")).expect("a profile")
}

fn problem(overlays: &str) -> String {
    ProfileFile::parse(&format!("{BASE}{overlays}")).expect_err("is wrong").to_string()
}

/// All of a profile, in its order.
fn text(profile: &Profile) -> String {
    serde_json::to_string(profile).expect("JSON")
}

fn title(file: &ProfileFile, version: &str) -> String {
    file.at(Some(version)).title.clone()
}

#[test]
fn a_range_ends_before_the_version_that_it_names() {
    let file = file(
        "[[changed]]\nbefore = '1.10.0'\ntitle = 'Old'\n\
         [[changed]]\nsince = '3.0.0'\ntitle = 'Next'\n\
         [[changed]]\nsince = '1.2.0'\nbefore = '1.3.0'\ntitle = 'Between'\n",
    );
    for (version, expected) in [
        ("0.0.0-0", "Old"),
        ("1.1.9", "Old"),
        ("1.2.0", "Between"),
        ("1.3.0", "Old"),
        // Versions are no texts, and what comes before a release is older than it.
        ("1.9.0", "Old"),
        ("1.10.0-beta.1", "Old"),
        ("1.10.0", "Tool"),
        ("2.9.9", "Tool"),
        ("3.0.0-rc.1", "Tool"),
        ("3.0.0", "Next"),
        ("10.0.0", "Next"),
    ] {
        assert_eq!(title(&file, version), expected, "{version}");
    }
    let changes: Vec<String> = file.changes().map(ToString::to_string).collect();
    assert_eq!(changes, ["1.2.0", "1.3.0", "1.10.0", "3.0.0"]);
}

#[test]
fn without_a_version_it_is_the_first_listed() {
    let file = file("[[changed]]\nsince = '2.0.0'\ntitle = 'Two'\n");
    assert_eq!(file.at(None).title, "Two");
    assert_eq!(file.at(Some("latest")).title, "Two");
    assert_eq!(file.base().title, "Tool");
    assert_eq!(file.at(Some("newest")).title, "Tool");
}

#[test]
fn where_nobody_knows_the_version_nothing_is_laid_over() {
    let changed = "[[changed]]\nsince = '0.1.0'\ntitle = 'Other'\n";
    assert_eq!(title(&file(changed), "2.0.0"), "Other");
    let own = BASE.replace("source = \"npm\"\npackage = \"tool\"", "source = \"path\"");
    let file = ProfileFile::parse(&format!("{own}{changed}")).expect("a profile");
    assert_eq!(title(&file, "2.0.0"), "Tool");
}

#[test]
fn overlays_lie_in_the_order_of_the_file() {
    let file = file(
        "[[changed]]\nbefore = '1.5.0'\ntitle = 'First'\nmemory = 1\n\
         [[changed]]\nbefore = '1.0.0'\ntitle = 'Second'\n",
    );
    let old = file.at(Some("0.9.0"));
    assert_eq!((old.title.as_str(), old.memory), ("Second", Some(1)));
    assert_eq!(title(&file, "1.4.0"), "First");
}

#[test]
fn tables_merge_and_lists_are_replaced() {
    let file = file(
        "[[changed]]\nbefore = '1.0.0'\nown-state = ['tmp/**']\n\
         [changed.install]\nexecutable = 'old/tool'\n\
         [changed.environment]\nKEY = 'none'\nMORE = '1'\n\
         [changed.policy.full]\narguments = []\nvalues = { deep = 'er' }\n",
    );
    let old = file.at(Some("0.9.0"));
    let Install::Npm { package, executable, .. } = &old.install else { panic!("is of npm") };
    assert_eq!((package.as_str(), executable.as_str()), ("tool", "old/tool"));
    let environment: Vec<_> = old.environment.iter().collect();
    let expected = [("HOME", "${home}"), ("KEY", "none"), ("MORE", "1")];
    assert!(environment.iter().map(|(k, v)| (k.as_str(), v.as_str())).eq(expected));
    let full = &old.policy[&crate::scenario::Policy::Full];
    assert!(full.arguments.is_empty());
    assert_eq!(full.values["deep"], "er");
    assert_eq!(old.own_state, ["tmp/**"]);
    assert!(old.changed.is_empty());
}

#[test]
fn drivers_and_files_are_told_apart_by_their_names() {
    let file = file(
        "[[changed]]\nbefore = '1.0.0'\n\
         [[changed.drivers]]\ndriver = 'exec'\narguments = ['run']\n\
         [[changed.files]]\npath = 'home/c'\ntext = 'c'\n\
         [[changed.files]]\npath = 'home/b'\ntext = 'old b'\n",
    );
    let old = file.at(Some("0.9.0"));
    assert_eq!(old.drivers.len(), 2);
    assert_eq!(old.drivers[0].arguments, ["run"]);
    // The list within is replaced where it is named, else stays.
    assert_eq!(old.drivers[0].wires.len(), 2);
    let files: Vec<_> = old.files.iter().map(|f| (f.path.as_str(), f.text.as_str())).collect();
    assert_eq!(files, [("home/a", "new a"), ("home/b", "old b"), ("home/c", "c")]);
}

#[test]
fn a_native_call_and_a_thing_of_another_kind_are_whole() {
    let file = file(
        "[[changed]]\nbefore = '1.0.0'\n\
         [changed.tools.shell]\nnative = 'sh'\ninput = '${command}'\n\
         [changed.install]\nsource = 'pip'\npackage = 't'\npython = ['3.11']\nexecutable = 'bin/t'\n\
         [[changed.drivers]]\ndriver = 'exec'\n\
         [changed.drivers.output]\nformat = 'jsonl'\nfinal-text = { where = {}, text = '/t' }\n",
    );
    let old = file.at(Some("0.9.0"));
    assert!(old.tools["shell"].arguments.is_empty());
    assert!(matches!(old.install, Install::Pip { .. }));
}

#[test]
fn an_overlay_that_is_wrong_is_named_with_its_key() {
    let range = "[[changed]]\nbefore = '1.0.0'\n";
    for (overlay, parts) in [
        ("[[changed]]\ntitle = 'x'\n".to_owned(), &["number 1: it names no versions"][..]),
        ("[[changed]]\nbefore = '1.0'\n".to_owned(), &["`before = \"1.0\"` is no version"]),
        ("[[changed]]\nsince = 1.0\n".to_owned(), &["`since = 1.0` is no version"]),
        (
            "[[changed]]\nsince = '2.0.0'\nbefore = '1.0.0'\n".to_owned(),
            &["no version is since 2.0.0 and before 1.0.0"],
        ),
        (format!("{range}name = 'x'\n"), &["number 1: it holds `name`, which is the same"]),
        (format!("{range}schema = 1\n"), &["it holds `schema`"]),
        (format!("{range}versions = ['1.0.0']\n"), &["it holds `versions`"]),
        (format!("{range}changed = []\n"), &["it holds `changed`"]),
        (
            format!("{range}titel = 'x'\n"),
            &["number 1 (before 1.0.0): the profile is none with it: unknown field `titel`"],
        ),
        (
            format!("{range}[changed.tools.shell]\nnative = 'x'\ninputs = 'x'\n"),
            &["unknown field `inputs`", "tools.shell"],
        ),
        (format!("{range}title = 1\n"), &["invalid type: integer `1`", "title"]),
        (
            format!("{range}[[changed]]\nsince = '3.0.0'\ndrivers = []\nkept-in = {{ a = 'b' }}\n"),
            &["number 2 (since 3.0.0): the profile is none with it: `kept-in`: `b` is no folder"],
        ),
        (
            format!("{range}[changed.environment]\nX = '${{y}}'\n"),
            &["number 1 (before 1.0.0)", "`environment.X over chat`"],
        ),
        // Wrong with the first; the second is not to blame.
        (
            format!("{range}stand-ins = 1\n[[changed]]\nbefore = '0.5.0'\ntitle = 'x'\n"),
            &["number 1 (before 1.0.0)"],
        ),
    ] {
        let problem = problem(&overlay);
        for part in parts {
            assert!(problem.contains(part), "{problem}\n  lacks {part}");
        }
    }
}

#[test]
fn one_overlay_may_need_another() {
    let file = file(
        "[[changed]]\nbefore = '1.0.0'\n[changed.environment]\nX = '${y}'\n\
         [[changed]]\nbefore = '1.0.0'\n[changed.wire]\nchat = { values = { y = 'z' } }\n\
         responses = { values = { y = 'z' } }\n",
    );
    assert_eq!(file.at(Some("0.1.0")).environment["X"], "${y}");
}

#[test]
fn what_is_wrong_with_the_profile_itself_has_a_place_and_no_overlay() {
    let text = BASE.replace("title =", "titel =");
    let text = format!("{text}[[changed]]\nbefore = '1.0.0'\ntitle = 'x'\n");
    let problem = ProfileFile::parse(&text).expect_err("is wrong").to_string();
    assert!(problem.contains("line 4") && !problem.contains("number"), "{problem}");
}

fn any_version() -> impl Strategy<Value = Version> {
    let pre = prop_oneof![Just(""), Just("-alpha"), Just("-rc.1")];
    ((0_u64..4, 0_u64..4, 0_u64..4), pre).prop_map(|((major, minor, patch), pre)| {
        format!("{major}.{minor}.{patch}{pre}").parse().expect("a version")
    })
}

proptest! {
    #[test]
    fn a_version_that_no_overlay_is_for_has_the_profile_itself(
        ranges in prop::collection::vec((any::<bool>(), any_version()), 0..4),
        version in any_version(),
    ) {
        let overlays: Vec<String> = ranges
            .iter()
            .enumerate()
            .map(|(index, (since, end))| {
                let key = if *since { "since" } else { "before" };
                format!("[[changed]]\n{key} = '{end}'\ntitle = '{index}'\n")
            })
            .collect();
        let file = file(&overlays.concat());
        let last = ranges.iter().rposition(|(since, end)| (version >= *end) == *since);
        let found = file.at(Some(&version.to_string()));
        if let Some(index) = last {
            prop_assert_eq!(&found.title, &index.to_string());
        } else {
            let plain: Profile = toml::from_str(BASE).expect("a profile");
            prop_assert_eq!(text(found), text(&plain));
        }
    }
}
