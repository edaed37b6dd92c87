//! What a run sees of the files of the machine, and what it can change.

use std::fs;
use std::path::{Path, PathBuf};

use conform::sandbox::{Files, Isolation, IsolationOutcome, Keeper, KeeperOptions};
use nix::unistd::{chown, geteuid};

use crate::{conform, run, shell, unprivileged};

#[expect(clippy::print_stdout, reason = "a test that checks nothing says why")]
fn skipped(got: &IsolationOutcome) {
    println!("skipped: {got}");
}

/// A keeper with files of its own; `None` where the kernel allows none, which has been said then.
async fn start(executable: PathBuf, case: &Path, needed: &[&Path]) -> Option<Keeper> {
    let needed = needed.iter().map(|path| path.to_path_buf()).collect();
    let files = Some(Files { case: case.to_owned(), needed });
    let options = KeeperOptions { isolation: Isolation::Auto, executable: Some(executable), files };
    let (keeper, _listener) = Keeper::start(options).await.unwrap();
    match keeper.isolation() {
        IsolationOutcome::Whole => Some(keeper),
        other => {
            skipped(other);
            None
        }
    }
}

/// What a shell makes of a script; the paths are its `$1`, `$2`, ….
async fn said(keeper: &Keeper, script: &str, paths: &[&Path]) -> String {
    let mut command = shell(script);
    command.arguments.push("sh".into());
    command.arguments.extend(paths.iter().map(Into::into));
    run(keeper, command).await.0
}

/// Whether a file can be made in each folder.
async fn writable(keeper: &Keeper, folders: &[&Path]) -> String {
    let script = r#"for folder; do echo "$(touch "$folder/left" 2>/dev/null; echo $?)"; done"#;
    said(keeper, script, folders).await.replace('\n', " ")
}

#[tokio::test]
async fn the_case_folder_alone_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let case = folder.path().join("case");
    fs::create_dir(&case).unwrap();
    let Some(keeper) = start(conform(), &case, &[]).await else { return };
    let machine = [Path::new("/"), Path::new("/etc"), Path::new("/usr/bin")];
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(writable(&keeper, &[&case]).await, "0 ");
    assert_eq!(writable(&keeper, &machine).await, "1 1 1 ");
    assert_eq!(writable(&keeper, &[own]).await, "1 ");
    keeper.end().await.unwrap();
    // Seen from outside: what was written is there, and nothing else.
    assert!(case.join("left").exists());
}

#[tokio::test]
async fn temporary_folders_are_the_runs_own() {
    let folder = tempfile::tempdir().unwrap();
    let case = folder.path().join("case");
    fs::create_dir(&case).unwrap();
    fs::write(folder.path().join("unseen"), "").unwrap();
    let Some(keeper) = start(conform(), &case, &[]).await else { return };
    let name = format!("conform-test-{}", std::process::id());
    let script = format!(
        r#"for folder in /tmp /var/tmp /dev/shm; do echo {name} >$folder/{name}; done
        cat /tmp/{name}; ls "$1""#
    );
    assert_eq!(said(&keeper, &script, &[folder.path()]).await, format!("{name}\ncase\n"));
    keeper.end().await.unwrap();
    for shared in ["/tmp", "/var/tmp", "/dev/shm"] {
        assert!(!Path::new(shared).join(&name).exists(), "{shared}");
    }
}

#[tokio::test]
async fn what_is_needed_is_found_in_a_temporary_folder_and_cannot_be_changed() {
    let (folder, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let program = programs.path().join("bin/program");
    fs::create_dir(programs.path().join("bin")).unwrap();
    fs::write(&program, "needed").unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let needed = [program.as_path(), file.path(), Path::new("/tmp/conform-is-not-there")];
    let Some(keeper) = start(conform(), folder.path(), &needed).await else { return };
    assert_eq!(said(&keeper, r#"cat "$1" "$2""#, &[&program, file.path()]).await, "needed");
    assert_eq!(writable(&keeper, &[programs.path(), folder.path()]).await, "1 0 ");
    keeper.end().await.unwrap();
    assert!(folder.path().join("left").exists());
}

#[tokio::test]
async fn an_unprivileged_user_gets_files_of_its_own() {
    let (programs, case) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let executable = unprivileged(programs.path());
    if geteuid().is_root() {
        chown(case.path(), Some(65534.into()), Some(65534.into())).unwrap();
    }
    let Some(keeper) = start(executable, case.path(), &[programs.path()]).await else { return };
    assert_eq!(writable(&keeper, &[case.path(), programs.path()]).await, "0 1 ");
    assert_eq!(said(&keeper, "ls -A /tmp | wc -l", &[]).await.trim(), "2");
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn a_case_that_is_not_there_is_told_of() {
    let missing = Path::new("/tmp/conform-has-no-such-case").to_owned();
    let files = Some(Files { case: missing, needed: Vec::new() });
    let options =
        KeeperOptions { isolation: Isolation::Strict, executable: Some(conform()), files };
    let error = Keeper::start(options).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot cut the case off from the machine: "), "{error}");
}
