//! Installing agents, with a small script in npm's place.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use conform::agent::install::{InstallError, Progress, Store};
use conform::agent::profile::Profile;

/// A cache, and an npm that does as it is told.
struct Place {
    folder: tempfile::TempDir,
    store: Store,
}

/// Lays a package out as npm does, notes its arguments, and says that the version is `$SAYS`.
const GOOD_NPM: &str = r#"
spec=; for spec; do :; done
name=${spec%@*}; version=${spec##*@}
echo "$*" >>"$(dirname "$0")/calls"
test -f package.json || exit 9
mkdir -p "node_modules/$name/vendor/x86/bin"
printf '#!/bin/sh\necho tool %s\n' "$version" >"node_modules/$name/vendor/x86/bin/tool"
chmod +x "node_modules/$name/vendor/x86/bin/tool"
cat >package-lock.json <<END
{"lockfileVersion": 3, "packages": {"": {}, "node_modules/$name": {"version": "$version", "integrity": "sha512-x"}}}
END
"#;

fn script(path: &Path, text: &str) {
    // Written beside and renamed: the old one may be running.
    let new = path.with_extension("new");
    fs::write(&new, format!("#!/bin/sh\n{text}")).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(new, path).unwrap();
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let store = Store::open(folder.path().join("cache")).searching(&bin);
        Self { folder, store }
    }

    fn npm(self, text: &str) -> Self {
        script(&self.folder.path().join("bin/npm"), text);
        self
    }

    fn calls(&self) -> usize {
        let calls = fs::read_to_string(self.folder.path().join("bin/calls"));
        calls.map_or(0, |calls| calls.lines().count())
    }

    fn agents(&self) -> PathBuf {
        self.folder.path().join("cache/agents")
    }

    fn failure(&self, version: Option<&str>) -> InstallError {
        let error = self.store.install(&npm_profile(), version, &mut |_| {}).unwrap_err();
        let left = fs::read_dir(self.agents().join("tool"));
        let left: Vec<_> = left
            .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default();
        assert!(left.iter().all(|path| path.is_file()), "left behind: {left:?}");
        error
    }
}

fn profile(install: &str, versions: &str) -> Profile {
    let text = format!(
        "schema = 1\nname = 'tool'\ntitle = 'Tool'\nversions = {versions}\ndrivers = []\n\
        [install]\n{install}\n[policy]\n[tools]\n"
    );
    toml::from_str(&text).unwrap()
}

fn npm_profile() -> Profile {
    profile(
        "source = 'npm'\npackage = '@some/tool'\nexecutable = 'node_modules/@some/tool/vendor/*/bin/tool'",
        "['1.2.3', '1.0.0']",
    )
}

fn output(program: &Path) -> String {
    let output = std::process::Command::new(program).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn versions_are_installed_side_by_side() {
    let place = Place::new().npm(GOOD_NPM);
    let profile = npm_profile();
    assert_eq!(place.store.installed(&profile, None).unwrap(), None);
    assert!(place.store.list().unwrap().is_empty());

    let mut steps = Vec::new();
    let first = place.store.install(&profile, None, &mut |step| steps.push(step)).unwrap();
    assert_eq!(steps, [Progress::Fetching, Progress::Checking]);
    assert_eq!(first.folder, place.agents().join("tool/1.2.3"));
    assert_eq!(output(&first.executable), "tool 1.2.3\n");
    let origin = first.origin.as_ref().unwrap();
    assert_eq!(origin.executable, "node_modules/@some/tool/vendor/x86/bin/tool");
    assert_eq!(origin.integrity.as_deref(), Some("sha512-x"));
    first.verify().unwrap();

    // A version that the profile does not list may be tried too.
    let second = place.store.install(&profile, Some("2.0.0-beta.1"), &mut |_| {}).unwrap();
    assert_eq!(output(&second.executable), "tool 2.0.0-beta.1\n");
    assert_eq!(place.store.installed(&profile, Some("latest")).unwrap(), Some(first.clone()));
    assert_eq!(place.store.installed(&profile, Some("1.2.3")).unwrap(), Some(first.clone()));
    // What is there is not fetched again.
    let again = place.store.install(&profile, None, &mut |step| panic!("{step:?}")).unwrap();
    assert_eq!(again, first);
    assert_eq!(place.calls(), 2);

    let listed = place.store.list().unwrap();
    let listed: Vec<_> = listed
        .into_iter()
        .map(|one| (one.agent, one.version, one.state.unwrap().executable))
        .collect();
    let expected = [
        ("tool".to_owned(), "1.2.3".to_owned(), first.executable),
        ("tool".to_owned(), "2.0.0-beta.1".to_owned(), second.executable),
    ];
    assert_eq!(listed, expected);
}

#[test]
fn npm_is_called_without_install_scripts() {
    let place = Place::new().npm(GOOD_NPM);
    place.store.install(&npm_profile(), None, &mut |_| {}).unwrap();
    let calls = fs::read_to_string(place.folder.path().join("bin/calls")).unwrap();
    assert!(calls.starts_with("install --prefix "), "{calls}");
    assert!(calls.contains(" --ignore-scripts "), "{calls}");
    assert!(calls.ends_with(" @some/tool@1.2.3\n"), "{calls}");
}

#[test]
fn two_installers_fetch_once() {
    // The first npm waits until the second installer has said that it waits.
    let place = Place::new();
    let gate = place.folder.path().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let place = place.npm(&format!("read -r go <{}\n{GOOD_NPM}", gate.display()));
    let steps = Mutex::new(Vec::new());
    let install = || {
        let progress = &mut |step| {
            steps.lock().unwrap().push(step);
            if step == Progress::Waiting {
                fs::write(&gate, "go\n").unwrap();
            }
        };
        place.store.install(&npm_profile(), None, progress).unwrap()
    };
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(install);
        (install(), other.join().unwrap())
    });
    assert_eq!(one, two);
    assert_eq!(place.calls(), 1);
    let mut steps = steps.into_inner().unwrap();
    steps.sort_by_key(|step| format!("{step:?}"));
    assert_eq!(steps, [Progress::Checking, Progress::Fetching, Progress::Waiting]);
}

#[test]
fn a_damaged_installation_is_said_and_replaced() {
    let place = Place::new().npm(GOOD_NPM);
    let profile = npm_profile();
    let installed = place.store.install(&profile, None, &mut |_| {}).unwrap();

    fs::write(&installed.executable, "other").unwrap();
    let error = installed.verify().unwrap_err().to_string();
    assert!(error.contains("not the one that was installed"), "{error}");

    fs::remove_file(&installed.executable).unwrap();
    let error = place.store.installed(&profile, None).unwrap_err();
    assert!(matches!(error, InstallError::Damaged { .. }), "{error}");
    assert!(place.store.list().unwrap().remove(0).state.is_err());
    let again = place.store.install(&profile, None, &mut |_| {}).unwrap();
    assert_eq!(output(&again.executable), "tool 1.2.3\n");
    again.verify().unwrap();

    fs::write(installed.folder.join("installed.json"), "{").unwrap();
    assert!(place.store.installed(&profile, None).is_err());
    place.store.install(&profile, None, &mut |_| {}).unwrap();
    place.store.installed(&profile, None).unwrap().unwrap();
}

#[test]
fn what_an_interrupted_installer_left_is_in_nobodys_way() {
    let place = Place::new().npm(GOOD_NPM);
    let partial = place.agents().join("tool/.1.2.3.partial/node_modules");
    fs::create_dir_all(&partial).unwrap();
    assert!(place.store.list().unwrap().is_empty());
    place.store.install(&npm_profile(), None, &mut |_| {}).unwrap();
    assert!(!partial.exists());
}

#[test]
fn what_npm_says_is_told_apart() {
    let says = |code: &str, line: &str| {
        format!("echo 'npm error code {code}' >&2; echo 'npm error {line}' >&2; exit 1")
    };
    let failure = |npm: &str| Place::new().npm(npm).failure(Some("9.9.9"));
    let error = failure(&says("ETARGET", "notarget No matching version"));
    assert!(matches!(error, InstallError::NoSuchVersion { .. }), "{error}");
    assert!(error.to_string().contains("@some/tool has no version 9.9.9"), "{error}");
    assert!(error.to_string().contains("No matching version"), "{error}");
    let error = failure(&says("E404", "404 Not Found - GET"));
    assert!(matches!(error, InstallError::NoSuchPackage { .. }), "{error}");
    let error = failure(&says("ECONNREFUSED", "FetchError: refused"));
    assert!(matches!(error, InstallError::Network { .. }), "{error}");
    assert!(error.to_string().contains("FetchError: refused"), "{error}");
    let error = failure("echo boom >&2; kill -KILL $$");
    assert!(error.to_string().contains("signal: 9"), "{error}");
    assert!(error.to_string().contains("boom"), "{error}");
    // A success that is none.
    let error = failure(&GOOD_NPM.replace("\"version\": \"$version\"", "\"version\": \"1.0.0\""));
    assert!(matches!(error, InstallError::WrongVersion { .. }), "{error}");
    let error = failure(&GOOD_NPM.replace("vendor/x86", "vendor/x86/deep"));
    assert!(matches!(error, InstallError::Executable { .. }), "{error}");
    assert!(
        error.to_string().contains("there is node_modules/@some/tool/vendor/x86/deep"),
        "{error}"
    );
    let error = Place::new().failure(None);
    assert!(matches!(error, InstallError::NpmMissing { .. }), "{error}");
}

#[test]
fn a_version_must_be_exact() {
    let place = Place::new().npm(GOOD_NPM);
    for version in ["^1.0.0", "next", "1.2", "../../x", ""] {
        let error = place.store.install(&npm_profile(), Some(version), &mut |_| {}).unwrap_err();
        assert!(matches!(error, InstallError::NotExact { .. }), "{error}");
        assert!(error.to_string().contains("tool@1.2.3"), "{error}");
    }
    assert_eq!(place.calls(), 0);
    assert!(!place.agents().exists());
    let mut profile = npm_profile();
    for name in ["", "..", ".x", "a/b"] {
        name.clone_into(&mut profile.name);
        let error = place.store.install(&profile, None, &mut |_| {}).unwrap_err();
        assert!(matches!(error, InstallError::Name(_)), "{error}");
    }
}

#[test]
fn a_program_on_the_machine_is_found() {
    let place = Place::new();
    let tool = place.folder.path().join("bin/tool");
    let by_name = profile("source = 'path'\nexecutable = 'tool'", "['3.0']");
    let error = place.store.installed(&by_name, None).unwrap_err();
    assert!(matches!(error, InstallError::NotOnPath { .. }), "{error}");
    script(&tool, "echo here");
    let found = place.store.install(&by_name, None, &mut |step| panic!("{step:?}")).unwrap();
    assert_eq!((found.executable.as_path(), found.version.as_str()), (tool.as_path(), "3.0"));
    assert_eq!(found.origin, None);
    let by_path = format!("source = 'path'\nexecutable = '{}'", tool.display());
    let found = place.store.installed(&profile(&by_path, "['3.0']"), Some("3.0")).unwrap();
    assert_eq!(found.unwrap().executable, tool);
    let error = place.store.installed(&by_name, Some("4.0")).unwrap_err();
    assert!(error.to_string().contains("this machine has 3.0, not 4.0"), "{error}");
}

#[test]
fn what_is_built_in_is_this_executable() {
    let built_in = profile("source = 'built-in'", "[]");
    let found = Place::new().store.installed(&built_in, None).unwrap().unwrap();
    assert_eq!(found.executable, std::env::current_exe().unwrap());
    assert_eq!(found.version, env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_cache_is_where_the_environment_says() {
    let cache = |variables: &[(&str, &str)]| {
        let found = Store::default_cache(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        });
        found.map(|path| path.display().to_string()).map_err(|error| error.to_string())
    };
    let home = ("HOME", "/home/me");
    let xdg = ("XDG_CACHE_HOME", "/cache");
    assert_eq!(cache(&[home]).unwrap(), "/home/me/.cache/conform");
    assert_eq!(cache(&[home, xdg]).unwrap(), "/cache/conform");
    assert_eq!(cache(&[home, xdg, ("CONFORM_CACHE", "/own")]).unwrap(), "/own");
    assert_eq!(cache(&[home, ("XDG_CACHE_HOME", "relative")]).unwrap(), "/home/me/.cache/conform");
    assert!(cache(&[]).unwrap_err().contains("CONFORM_CACHE"));
}

/// The real npm and a real package, run confined in an empty environment.
#[tokio::test]
#[ignore = "needs the network and some hundred MB"]
async fn a_real_package_is_installed_and_runs() {
    use conform::sandbox::{Command, Isolation, Keeper, KeeperOptions, Stdin};
    use conform_reports::record::Exit;
    use tokio::io::AsyncReadExt as _;

    let folder = tempfile::tempdir().unwrap();
    let mut codex = profile(
        "source = 'npm'\npackage = '@openai/codex'\n\
        executable = 'node_modules/@openai/codex-linux-x64/vendor/*/bin/codex'",
        "['0.171.0']",
    );
    "codex".clone_into(&mut codex.name);
    let store = Store::open(folder.path());
    let installed = store.install(&codex, None, &mut |_| {}).unwrap();
    installed.verify().unwrap();
    println!("{installed:?}");
    let options = KeeperOptions {
        isolation: Isolation::Auto,
        executable: Some(env!("CARGO_BIN_EXE_conform").into()),
        files: None,
    };
    let (keeper, _listener) = Keeper::start(options).await.unwrap();
    let command = Command {
        program: installed.executable,
        arguments: vec!["--version".into()],
        environment: Vec::new(),
        directory: folder.path().to_owned(),
        stdin: Stdin::Closed,
    };
    let mut process = keeper.launch(command).await.unwrap();
    let mut output = String::new();
    process.stdout.read_to_string(&mut output).await.unwrap();
    assert_eq!(process.exit.wait().await.unwrap(), Exit::Status { status: 0 });
    assert!(output.contains("0.171.0"), "{output}");
    assert!(keeper.end().await.unwrap().is_empty());
}

/// An npm whose packages are programs at `bin/node` and `cli.js`.
const SCRIPT_NPM: &str = r#"
spec=; for spec; do :; done
name=${spec%@*}; version=${spec##*@}
echo "$spec" >>"$(dirname "$0")/calls"
mkdir -p "node_modules/$name/bin"
printf '#!/bin/sh\necho node %s runs "$1"\n' "$version" >"node_modules/$name/bin/node"
printf '#!/usr/bin/env node\n' >"node_modules/$name/cli.js"
chmod +x "node_modules/$name/bin/node" "node_modules/$name/cli.js"
printf '{"packages": {"node_modules/%s": {"version": "%s"}}}' "$name" "$version" >package-lock.json
"#;

#[test]
fn a_script_gets_the_node_that_its_profile_names() {
    let place = Place::new().npm(SCRIPT_NPM);
    let profile = profile(
        "source = 'npm'\npackage = 'tool'\nexecutable = 'node_modules/tool/cli.js'\nnode = '24.1.0'",
        "['1.2.3', '1.0.0']",
    );
    let first = place.store.install(&profile, None, &mut |_| {}).unwrap();
    let node = first.interpreter.as_ref().unwrap();
    assert!(node.starts_with(place.agents().join(".runtimes/node-24.1.0")), "{node:?}");
    assert_eq!(output(node), "node 24.1.0 runs \n");
    assert!(first.executable.ends_with("tool/1.2.3/node_modules/tool/cli.js"));

    // All versions share it, and it is no agent.
    place.store.install(&profile, Some("1.0.0"), &mut |_| {}).unwrap();
    assert_eq!(place.calls(), 3);
    let agents: Vec<_> =
        place.store.list().unwrap().into_iter().map(|listed| listed.agent).collect();
    assert_eq!(agents, ["tool", "tool"]);

    // Without it nothing runs.
    fs::remove_dir_all(place.agents().join(".runtimes")).unwrap();
    assert_eq!(place.store.installed(&profile, None).unwrap(), None);
    assert_eq!(place.store.install(&profile, None, &mut |_| {}).unwrap(), first);
}

/// A Python 3.11 that makes an environment and installs what it is asked for.
const GOOD_PYTHON: &str = r#"
case "$1 $2" in
"-c "*) echo 3.11 ;;
"-m venv")
    mkdir -p venv/bin
    cp "$0" venv/bin/python ;;
"-m pip")
    case "$3" in
    install)
        echo "$*" >calls
        case "$*" in *9.9.9*) echo "ERROR: No matching distribution found for tool==9.9.9" >&2; exit 1 ;; esac
        printf 'print()\n' >venv/bin/tool; chmod +x venv/bin/tool ;;
    freeze) echo tool==1.2.3 ;;
    esac ;;
esac
"#;

fn pip_profile() -> Profile {
    profile(
        "source = 'pip'\npackage = 'tool'\npython = ['3.11']\nwith = ['extra==0.9.0']\nexecutable = 'bin/tool'",
        "['1.2.3']",
    )
}

#[test]
fn a_python_package_gets_an_environment_of_its_own() {
    let place = Place::new();
    script(&place.folder.path().join("bin/python3"), GOOD_PYTHON);
    let installed = place.store.install(&pip_profile(), None, &mut |_| {}).unwrap();
    let folder = place.agents().join("tool/1.2.3");
    assert_eq!(installed.interpreter, Some(folder.join("venv/bin/python")));
    assert_eq!(installed.executable, folder.join("venv/bin/tool"));
    assert_eq!(fs::read_to_string(folder.join("requirements.lock")).unwrap(), "tool==1.2.3\n");
    let calls = fs::read_to_string(folder.join("calls")).unwrap();
    assert!(calls.ends_with("tool==1.2.3 extra==0.9.0\n"), "{calls}");
    installed.verify().unwrap();
}

#[test]
fn what_keeps_a_python_package_from_being_installed_is_said() {
    let place = Place::new();
    let failure = |version| {
        place.store.install(&pip_profile(), version, &mut |_| {}).unwrap_err().to_string()
    };
    assert!(failure(None).contains("needs Python 3.11"), "{}", failure(None));
    script(&place.folder.path().join("bin/python3"), "echo 3.9");
    assert!(failure(None).contains("there is none on PATH"), "{}", failure(None));
    script(&place.folder.path().join("bin/python3"), GOOD_PYTHON);
    assert!(
        failure(Some("9.9.9")).contains("No matching distribution"),
        "{}",
        failure(Some("9.9.9"))
    );
    script(
        &place.folder.path().join("bin/python3"),
        "case $2 in venv) echo 'no module named venv' >&2; exit 1;; *) echo 3.11;; esac",
    );
    assert!(failure(None).contains("python3-venv"), "{}", failure(None));
}
