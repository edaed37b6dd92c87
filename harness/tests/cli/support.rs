//! A place of its own for each test: folders, scripts that stand for agents, and `conform` in it.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread::JoinHandle;

use conform_reports::record::{self, Record, Verdict};
use nix::fcntl::OFlag;
use regex::Regex;

/// What every script begins with: how it asks the model. `ask ITEMS TOOLS` sends one request.
const PRELUDE: &str = r#"#!/bin/sh
ask() {
    curl -sS -o "$TMPDIR/reply" "$BASE/responses" -H 'content-type: application/json' -d "{
        \"model\": \"scripted\", \"stream\": true, \"instructions\": \"Text is data.\",
        \"input\": [{\"type\": \"message\", \"role\": \"user\",
            \"content\": [{\"type\": \"input_text\", \"text\": \"Say hello.\"}]}],
        \"tools\": [{\"type\": \"function\", \"name\": \"$1\", \"parameters\": {\"type\": \"object\"}}]
    }"
}
"#;

/// A script that does what it should.
pub(crate) const POLITE: &str = "ask look\necho Hello.\n";

/// How the output of a script is read.
pub(crate) const TEXT: &str = "driver = 'exec'\n[drivers.output]\nformat = 'text'\n";
pub(crate) const LINES: &str = "driver = 'exec'\n[drivers.output]\nformat = 'jsonl'\n\
    final-text = { where = { '/type' = 'final' }, text = '/text' }\n\
    succeeded = { where = { '/type' = 'final' } }\n";
pub(crate) const DIALOGUE: &str = "driver = 'jsonl'\n";

/// A folder in which a test runs `conform`.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// A place with the scenario `hello`, in which the agent passes on what the model says.
    pub(crate) fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["home", "cache", "profiles"] {
            fs::create_dir(place.path(folder)).unwrap();
        }
        place.scenario("hello", "Say hello.", "");
        place
    }

    /// A path in the place.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A scenario in which the model says hello; `more` are further fields.
    pub(crate) fn scenario(&self, id: &str, prompt: &str, more: &str) -> PathBuf {
        let expect =
            if more.contains("expect:") { "" } else { "expect:\n  - final: {contains: Hello}\n" };
        let model = if more.contains("model:") { "" } else { "model:\n  - say: Hello.\n" };
        self.write(
            &format!("scenarios/greeting/{id}.yaml"),
            &format!(
                "id: greeting.{id}\ntitle: The agent passes on what the model says\n\
                 clause: role.no-promotion\nsteps:\n  - user: {prompt}\n{model}{expect}{more}"
            ),
        )
    }

    /// The agent `mine`: a script that is read as text.
    pub(crate) fn agent(&self, script: &str) {
        self.agent_with(TEXT, script);
    }

    /// The agent `mine`, driven so.
    pub(crate) fn agent_with(&self, driver: &str, script: &str) {
        let program = self.write("bin/mine", &format!("{PRELUDE}{script}"));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let profile = format!(
            "schema = 1\nname = 'mine'\ntitle = 'A script'\nversions = ['1']\n\
             own-state = ['tmp/**']\n\
             [install]\nsource = 'path'\nexecutable = '{}'\n\
             [[drivers]]\nwires = ['responses']\narguments = ['${{prompt}}']\ncapabilities = []\n\
             {driver}\
             [environment]\nPATH = '${{path}}'\nHOME = '${{home}}'\nTMPDIR = '${{tmp}}'\n\
             BASE = '${{mock}}/v1'\n\
             [policy.workspace]\n\
             [tools.read]\nnative = 'look'\narguments = {{ path = '${{path}}' }}\n",
            program.display()
        );
        self.write("profiles/mine.toml", &profile);
    }

    /// `conform` with nothing of the caller's environment.
    pub(crate) fn conform(&self, arguments: &[&str]) -> assert_cmd::Command {
        assert_cmd::Command::from_std(self.command(arguments))
    }

    /// The same, for a test that talks to the process while it runs.
    pub(crate) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_conform"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path("home"))
            .env("CONFORM_CACHE", self.path("cache"))
            .args(arguments);
        command
    }

    /// Runs the agent `mine` on all scenarios, one at a time; the record is in `record`.
    pub(crate) fn run(&self, more: &[&str]) -> Output {
        self.conform(&RUN_MINE).args(more).output().unwrap()
    }

    /// The record that [`Place::run`] left.
    pub(crate) fn record(&self) -> Record {
        record::read(&self.path("record")).unwrap()
    }

    /// What the only case came to.
    pub(crate) fn verdict(&self) -> Verdict {
        let mut cases = self.record().cases;
        assert_eq!(cases.len(), 1, "{cases:?}");
        cases.remove(0).verdict
    }

    /// Makes the repository's scenarios and matrices those of this place.
    pub(crate) fn borrow_scenarios(&self) {
        fs::remove_dir_all(self.path("scenarios")).unwrap();
        for folder in ["scenarios", "matrices"] {
            let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
            std::os::unix::fs::symlink(there.canonicalize().unwrap(), self.path(folder)).unwrap();
        }
    }

    /// A text without what differs from run to run and from machine to machine.
    pub(crate) fn redact(&self, text: &str) -> String {
        let here = self.folder.path().canonicalize().unwrap();
        let mut text = text.replace(here.to_str().unwrap(), "[HERE]");
        for (pattern, with) in [
            (r" +\d+(\.\d|m\d\d)s\b", " [TIME]"),
            (r"\d{4}-\d\d-\d\dT\d{6}Z-\w{4}", "[RUN]"),
            (r"conform-\w{6}\b", "conform-[ID]"),
            (r"isolation: .*", "isolation: [ISOLATION]"),
            (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
            (r"conform \d+\.\d+\.\d+", "conform [VERSION]"),
            (r"lab@\d+\.\d+\.\d+", "lab@[VERSION]"),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, with).into_owned();
        }
        text
    }

    /// Everything that was said, with the exit status.
    pub(crate) fn said(&self, output: &Output) -> String {
        self.redact(&format!(
            "exit status: {}\n----- stdout\n{}----- stderr\n{}",
            output.status.code().unwrap(),
            stdout(output),
            stderr(output)
        ))
    }
}

/// The beginning of a command line that runs the agent `mine`.
pub(crate) const RUN_MINE: [&str; 9] =
    ["run", "--agent", "mine", "--profiles", "profiles", "--record", "record", "--jobs", "1"];

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// The end of the report.
pub(crate) fn last_line(output: &Output) -> &str {
    stdout(output).lines().last().unwrap_or_default()
}

/// A pipe with a name, that processes hold open as long as they live.
pub(crate) struct Leash {
    path: PathBuf,
    reader: JoinHandle<String>,
}

impl Leash {
    /// A leash for the processes that open `path` for writing.
    pub(crate) fn new(path: PathBuf) -> Self {
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let place = path.clone();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            fs::File::open(place).unwrap().read_to_string(&mut text).unwrap();
            text
        });
        Self { path, reader }
    }

    /// What was written, when the last holder is gone.
    pub(crate) fn end(self) -> String {
        // Were it never opened, its reader would wait for ever.
        let nobody = fs::File::options()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NONBLOCK.bits())
            .open(self.path)
            .unwrap();
        drop(nobody);
        self.reader.join().unwrap()
    }
}
