//! One run of one case: fresh folders, a mock and a keeper of its own, the agent, the evidence.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use conform_mock_server::server::{MockServer, StartError};
use conform_mock_server::wire::Wire;
use conform_reports::record::ErrorKind;
use tokio::time::Instant;

use super::course::Track;
use super::pool::{Interrupt, Options};
use super::subject::Subject;
use crate::agent::launch::{LaunchError, Start};
use crate::agent::lower::{self, LowerError};
use crate::agent::profile::{Launch, Profile};
use crate::case::{Case, Places, Variant};
use crate::driver::{Context, Dialogue, Driver, DriverError, Limits};
use crate::evidence::{Course, Evidence, Input, Patterns, Snapshot, TreeError, collect};
use crate::sandbox::{CaseFolder, Files, FolderError, Keeper, KeeperOptions, SandboxError};
use crate::scenario::Zone;

/// One run that is about to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session<'a> {
    pub(super) case: &'a Case,
    pub(super) variant: &'a Variant,
    pub(super) subject: &'a Subject,
    pub(super) launch: &'a Launch,
    pub(super) wire: Wire,
    pub(super) patterns: &'a Patterns,
    pub(super) options: &'a Options,
    pub(super) interrupt: &'a Interrupt,
}

/// Names of the files, in a kept case folder, that hold what the agent printed.
const OUTPUTS: [&str; 2] = ["agent-stdout.txt", "agent-stderr.txt"];

/// A run that could not be made. The case is an error, never a verdict on the agent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("cannot prepare {path}: {source}")]
    Plant { path: String, source: std::io::Error },
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("the mock did not start: {0}")]
    Mock(#[from] StartError),
    #[error(transparent)]
    Lower(#[from] LowerError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Not a verdict at all: the case is dropped.
    #[error("interrupted")]
    Interrupted,
}

impl SessionError {
    /// The kind of error that the case gets.
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            Self::Driver(DriverError::Output { .. }) => ErrorKind::Output,
            Self::Driver(
                DriverError::NotFound { .. }
                | DriverError::NotExecutable { .. }
                | DriverError::CannotStart { .. },
            ) => ErrorKind::Start,
            Self::Lower(_) | Self::Launch(_) | Self::Driver(DriverError::Refused { .. }) => {
                ErrorKind::ProfileDrift
            }
            _ => ErrorKind::Harness,
        }
    }

    /// The next step, where the text does not name one already.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Driver(_) => "run the case alone with --keep and look at its folder",
            Self::Lower(_) | Self::Launch(_) => "mend the profile; `conform check` looks at it",
            _ => "see that the machine has room and that nothing else removes the case's folders",
        }
    }
}

impl Session<'_> {
    /// Makes the run in these folders.
    pub(super) async fn run(&self, folder: &CaseFolder) -> Result<Evidence, SessionError> {
        let path = self.subject.path(self.options);
        let (keeper, listener) = Keeper::start(KeeperOptions {
            isolation: self.options.isolation,
            executable: Some(self.options.keeper.clone()),
            files: Some(Files { case: folder.root().to_owned(), needed: self.needed(&path) }),
        })
        .await?;
        let address = listener.local_addr().map_err(|source| StartError::Listener { source })?;
        let places = places(folder, &self.subject.profile, &format!("http://{address}"));
        for file in &self.variant.files {
            let text = file.text.resolve(&places);
            let path = self.subject.profile.path_in_tree(file.zone, &file.path);
            plant(folder, &path, &text, file.executable)?;
        }
        let start = Start {
            profile: &self.subject.profile,
            launch: self.launch,
            wire: self.wire,
            executable: &self.subject.executable,
            interpreter: self.subject.interpreter.as_deref(),
            defects: &self.subject.defects,
            path: &path,
            requires: &self.case.requires,
            variant: self.variant,
            places: &places,
        };
        start.write_files(folder.root())?;
        let lowered = lower::script(self.variant, &self.subject.profile, self.wire, &places)?;
        let mock = MockServer::builder(lowered.script).listener(listener).start().await?;

        let mut before = Snapshot::take(folder.root())?;
        let mut track = Track {
            profile: &self.subject.profile,
            places: &places,
            folder,
            journal: mock.journal(),
            gates: mock.gates(),
            before: &mut before,
            course: Course::default(),
        };
        let conversed = tokio::select! {
            biased;
            () = self.interrupt.raised() => Err(SessionError::Interrupted),
            conversed = self.converse(&keeper, &start, &mut track) => conversed,
        };
        // However it went, every process is gone before the tree is read again or removed: nothing
        // can write after that, and nothing outlives the run.
        let ended = keeper.end().await;
        mock.shutdown().await;
        let course = track.course;
        let dialogue = conversed?;
        ended?;
        let after = Snapshot::take(folder.root())?;
        if self.options.keep {
            keep_outputs(&dialogue, folder)?;
        }

        Ok(collect(&Input {
            case: self.case,
            variant: self.variant,
            places: &places,
            patterns: self.patterns,
            journal: &mock.journal().snapshot(),
            unused_turns: &mock.unused_turns(),
            script_turns: &lowered.turns,
            before: &before,
            after: &after,
            dialogue: &dialogue,
            course: &course,
        }))
    }

    /// What the agent must find wherever it lies: its program, and the programs that it starts.
    fn needed(&self, path: &str) -> Vec<PathBuf> {
        let programs = [&self.options.keeper, &self.subject.executable];
        let interpreter = self.subject.interpreter.as_ref();
        let found = std::env::split_paths(path);
        programs.into_iter().chain(interpreter).cloned().chain(found).collect()
    }

    async fn converse(
        &self,
        keeper: &Keeper,
        start: &Start<'_>,
        track: &mut Track<'_>,
    ) -> Result<Dialogue, SessionError> {
        let context = Context {
            keeper,
            launch: start.resolve()?,
            approver: self.variant.approver,
            deadline: Instant::now() + self.options.time_limit,
            limits: Limits::default(),
        };
        let mut driver = Driver::open(self.launch.driver, context).await?;
        track.follow(&mut driver, &self.variant.steps).await?;
        Ok(driver.close().await?)
    }
}

/// Leaves what the agent printed beside its folders, for whoever looks into them.
fn keep_outputs(dialogue: &Dialogue, folder: &CaseFolder) -> Result<(), SessionError> {
    for (name, text) in OUTPUTS.iter().zip([&dialogue.stdout, &dialogue.stderr]) {
        let path = folder.root().join(name);
        fs::write(&path, text)
            .map_err(|source| SessionError::Plant { path: path.display().to_string(), source })?;
    }
    Ok(())
}

fn places(folder: &CaseFolder, profile: &Profile, mock: &str) -> Places {
    Places {
        mock: mock.to_owned(),
        workspace: folder.zone(Zone::Workspace),
        outside: folder.zone(Zone::Outside),
        home: folder.zone(Zone::Home),
        tmp: folder.zone(Zone::Tmp),
        rules_close: profile.contract.rules_close(),
    }
}

/// Writes a file of the case; its path is one in the case tree.
pub(super) fn plant(
    folder: &CaseFolder,
    path: &str,
    text: &str,
    executable: bool,
) -> Result<(), SessionError> {
    let path = folder.root().join(path);
    write(&path, text, executable)
        .map_err(|source| SessionError::Plant { path: path.display().to_string(), source })
}

fn write(path: &Path, text: &str, executable: bool) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)?;
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}
