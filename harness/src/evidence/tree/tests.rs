use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use conform_reports::record::FileChangeKind::{self, Changed, Created, Deleted};
use proptest::prelude::*;

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn take(root: &Path) -> Snapshot {
    Snapshot::take(root).expect("the folder can be read")
}

/// The changes that `act` makes in a folder prepared by `prepare`.
fn changes(
    own: &[&str],
    prepare: impl FnOnce(&Path),
    act: impl FnOnce(&Path),
) -> Vec<(String, FileChangeKind)> {
    let folder = folder();
    prepare(folder.path());
    let before = take(folder.path());
    act(folder.path());
    let own: Vec<String> = own.iter().map(|glob| (*glob).to_owned()).collect();
    let own = OwnState::compile(&own).expect("globs");
    Snapshot::changes(&before, &take(folder.path()), &own)
        .into_iter()
        .map(|change| (change.path, change.change))
        .collect()
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("has a parent")).expect("folders");
    fs::write(path, text).expect("written");
}

fn named(expected: &[(&str, FileChangeKind)]) -> Vec<(String, FileChangeKind)> {
    expected.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect()
}

#[test]
fn contents_modes_and_targets_are_compared() {
    let found = changes(
        &[],
        |root| {
            put(root, "workspace/same", "1");
            put(root, "workspace/text", "12");
            put(root, "workspace/mode", "1");
            put(root, "workspace/gone", "1");
            symlink("same", root.join("workspace/link")).expect("a link");
        },
        |root| {
            put(root, "workspace/same", "1");
            put(root, "workspace/text", "21");
            fs::set_permissions(root.join("workspace/mode"), Permissions::from_mode(0o755))
                .expect("a mode");
            fs::remove_file(root.join("workspace/gone")).expect("removed");
            fs::remove_file(root.join("workspace/link")).expect("removed");
            symlink("text", root.join("workspace/link")).expect("a link");
            put(root, "workspace/sub/new", "1");
            put(root, "escaped", "1");
        },
    );
    let expected = [
        ("escaped", Created),
        ("workspace/gone", Deleted),
        ("workspace/link", Changed),
        ("workspace/mode", Changed),
        ("workspace/sub/", Created),
        ("workspace/sub/new", Created),
        ("workspace/text", Changed),
    ];
    assert_eq!(found, named(&expected));
}

#[test]
fn a_changed_type_is_a_change() {
    let found = changes(
        &[],
        |root| {
            put(root, "a", "1");
            fs::create_dir(root.join("b")).expect("a folder");
        },
        |root| {
            fs::remove_file(root.join("a")).expect("removed");
            fs::create_dir(root.join("a")).expect("a folder");
            fs::remove_dir(root.join("b")).expect("removed");
            symlink("/", root.join("b")).expect("a link");
        },
    );
    assert_eq!(found, named(&[("a/", Changed), ("b", Changed)]));
}

#[test]
fn links_are_not_followed_and_pipes_not_opened() {
    let outside = folder();
    let target = outside.path().join("target");
    fs::write(&target, "1").expect("written");
    let found = changes(
        &[],
        |root| {
            symlink(outside.path(), root.join("folder")).expect("a link");
            symlink(&target, root.join("file")).expect("a link");
            nix::unistd::mkfifo(&root.join("pipe"), nix::sys::stat::Mode::S_IRUSR).expect("a pipe");
        },
        |_| {
            fs::write(&target, "2").expect("written");
            fs::write(outside.path().join("more"), "2").expect("written");
        },
    );
    assert_eq!(found, []);
}

#[test]
fn names_that_are_not_text_stay_distinct() {
    let found = changes(
        &[],
        |_| {},
        |root| {
            for name in [&b"n\xff"[..], b"n\xfe", b"n\\xff", b"n\\"] {
                fs::write(root.join(OsStr::from_bytes(name)), "1").expect("written");
            }
        },
    );
    let names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, [r"n\\", r"n\\xff", r"n\xfe", r"n\xff"]);
}

#[test]
fn own_state_is_left_out_with_the_folders_that_hold_nothing_else() {
    let found = changes(
        &["home/.agent/sessions/**", "home/.agent/*.log", "home/cache"],
        |root| put(root, "home/.agent/sessions/old", "1"),
        |root| {
            fs::remove_file(root.join("home/.agent/sessions/old")).expect("removed");
            put(root, "home/.agent/sessions/1/a", "1");
            put(root, "home/.agent/x.log", "1");
            put(root, "home/.agent/sub/x.log", "1");
            put(root, "home/.agent/config", "1");
            put(root, "home/cache", "1");
            put(root, "home/cache2", "1");
        },
    );
    let expected = [
        ("home/.agent/config", Created),
        ("home/.agent/sub/", Created),
        ("home/.agent/sub/x.log", Created),
        ("home/cache2", Created),
    ];
    assert_eq!(found, named(&expected));

    let found = changes(
        &["home/.agent/sessions/**"],
        |root| fs::create_dir(root.join("home")).expect("a folder"),
        |root| {
            put(root, "home/.agent/sessions/1/a", "1");
            fs::create_dir(root.join("home/empty")).expect("a folder");
        },
    );
    assert_eq!(found, named(&[("home/empty/", Created)]));
}

#[test]
fn unreadable_entries_are_entries() {
    let mut entries = BTreeMap::new();
    entries.insert("d".into(), Entry { mode: 0o700, content: Content::Folder });
    let denied = io::ErrorKind::PermissionDenied;
    mark_unreadable(&mut entries, "d".into(), denied);
    mark_unreadable(&mut entries, "f".into(), denied);
    let entry = |mode, folder| Entry { mode, content: unreadable(folder, denied) };
    let expected: BTreeMap<PathBuf, Entry> =
        [("d".into(), entry(0o700, true)), ("f".into(), entry(0, false))].into();
    assert_eq!(entries, expected);
}

#[test]
fn a_root_that_is_not_there_is_an_error() {
    let folder = folder();
    let missing = folder.path().join("none");
    let error = Snapshot::take(&missing).expect_err("nothing there").to_string();
    assert!(error.contains("none"), "{error}");
}

/// A change that a test makes to one of a few files.
#[derive(Debug, Clone)]
enum Act {
    Write(u8),
    Mode(bool),
    Link(u8),
    Remove,
}

/// What a file is, as far as the test knows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    File { text: u8, executable: bool },
    Link(u8),
}

fn act() -> impl Strategy<Value = (usize, Act)> {
    let act = prop_oneof![
        any::<u8>().prop_map(Act::Write),
        any::<bool>().prop_map(Act::Mode),
        any::<u8>().prop_map(Act::Link),
        Just(Act::Remove),
    ];
    (0..5_usize, act)
}

fn apply(root: &Path, known: &mut BTreeMap<usize, Known>, file: usize, act: &Act) {
    let path = root.join(format!("file{file}"));
    let clear = |known: &mut BTreeMap<usize, Known>| {
        if known.remove(&file).is_some() {
            fs::remove_file(&path).expect("removed");
        }
    };
    match act {
        Act::Write(text) => {
            let executable = matches!(known.get(&file), Some(Known::File { executable: true, .. }));
            clear(known);
            fs::write(&path, [*text]).expect("written");
            let mode = if executable { 0o755 } else { 0o644 };
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
            known.insert(file, Known::File { text: *text, executable });
        }
        Act::Mode(wanted) => {
            if let Some(Known::File { executable, .. }) = known.get_mut(&file) {
                *executable = *wanted;
                let mode = if *wanted { 0o755 } else { 0o644 };
                fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
            }
        }
        Act::Link(target) => {
            clear(known);
            symlink(format!("target{target}"), &path).expect("a link");
            known.insert(file, Known::Link(*target));
        }
        Act::Remove => clear(known),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn changes_are_exactly_those_made(
        first in prop::collection::vec(act(), 0..12),
        then in prop::collection::vec(act(), 0..12),
    ) {
        let folder = folder();
        let mut known = BTreeMap::new();
        for (file, act) in &first {
            apply(folder.path(), &mut known, *file, act);
        }
        let (old, before) = (known.clone(), take(folder.path()));
        prop_assert_eq!(Snapshot::changes(&before, &before, &OwnState::none()), vec![]);
        for (file, act) in &then {
            apply(folder.path(), &mut known, *file, act);
        }
        let expected: Vec<FileChange> = (0..5)
            .filter_map(|file| {
                let change = match (old.get(&file), known.get(&file)) {
                    (None, Some(_)) => Created,
                    (Some(_), None) => Deleted,
                    (old, new) if old != new => Changed,
                    _ => return None,
                };
                Some(FileChange { path: format!("file{file}"), change })
            })
            .collect();
        let found = Snapshot::changes(&before, &take(folder.path()), &OwnState::none());
        prop_assert_eq!(found, expected);
    }
}
