//! What a driver needs to run an agent, and what can go wrong.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use nix::unistd::{AccessFlags, access};
use tokio::time::Instant;

use crate::agent::profile::{AcpWords, ApprovalPolicy, OutputRule, SandboxMode};
use crate::sandbox::{Command, Keeper, Process, SandboxError, Stdin};
use crate::scenario::Approver;

/// One run, as a driver sees it.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The confinement, in which every process is started.
    pub keeper: &'a Keeper,
    /// How the agent is started.
    pub launch: ResolvedLaunch,
    /// Who answers approval requests.
    pub approver: Approver,
    /// When the run must be over.
    pub deadline: Instant,
    /// Other limits.
    pub limits: Limits,
}

/// How an agent is started: the profile's launch with every template expanded.
#[derive(Debug, Clone)]
pub struct ResolvedLaunch {
    /// Path of the program; not searched for.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The arguments of a process that goes on with the session of the last one, where the agent
    /// can do that.
    pub resume: Option<Vec<Argument>>,
    /// The complete environment.
    pub environment: IndexMap<String, String>,
    /// Working folder.
    pub directory: PathBuf,
    /// How the output is read; exec drivers need it.
    pub output: Option<OutputRule>,
    /// How the thread is opened; app-server drivers need it.
    pub thread: Option<ThreadSettings>,
    /// How a session is opened and what can be said in it; for ACP drivers.
    pub acp: AcpSettings,
}

/// What the driver `acp` must know beyond its protocol.
#[derive(Debug, Clone, Default)]
pub struct AcpSettings {
    /// The mode that is set when the session is open; `None`: the agent's own.
    pub mode: Option<String>,
    /// How this agent is steered and told to compact.
    pub words: AcpWords,
}

/// What an app-server is told when its thread is opened; the policy decides it.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadSettings {
    /// When the agent asks.
    pub approval_policy: ApprovalPolicy,
    /// The sandbox of commands that run without being asked about.
    pub sandbox: SandboxMode,
    /// Configuration that overrides the agent's own files: dotted keys and values.
    pub config: serde_json::Map<String, serde_json::Value>,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// Known before the run.
    Fixed(String),
    /// The prompt: `${prompt}` standing alone.
    Prompt,
}

/// Limits beside the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of standard output, and of standard error, that are kept; the rest is read and
    /// dropped, and the text ends with a note.
    pub output: usize,
    /// How long an agent that was told to end may take before it is killed.
    pub closing: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { output: 16 * 1024 * 1024, closing: Duration::from_secs(10) }
    }
}

/// The agent could not be driven. None of these is the agent's verdict: the case is an error.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// There is no such program.
    #[error(
        "the agent's program {} is not there; install it with `conform agents install`, or correct the profile's `executable`", program.display()
    )]
    NotFound {
        /// Its path.
        program: PathBuf,
    },
    /// It is there, but may not be run.
    #[error("the agent's program {} is not an executable file; make it one (chmod +x), or correct the profile's `executable`", program.display())]
    NotExecutable {
        /// Its path.
        program: PathBuf,
    },
    /// It could not be started for another reason.
    #[error(
        "the agent's program {} could not be started: {source}; run it by hand to see whether it suits this machine (architecture, interpreter, libraries)", program.display()
    )]
    CannotStart {
        /// Its path.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It wrote what the driver's protocol does not allow.
    #[error(
        "the agent's output cannot be read: {problem}, in {line:?}; check that the profile names the driver which the agent speaks"
    )]
    Output {
        /// What is wrong.
        problem: String,
        /// The line, shortened.
        line: String,
    },
    /// The profile's launch does not say what the driver needs.
    #[error(
        "the profile's launch for the driver `exec` has no `output`: say how the final text is read"
    )]
    NoOutputRule,
    /// The profile's policy does not say what the driver needs.
    #[error(
        "the profile's policy has no `app-server` table: say with which approval policy and sandbox the thread is opened"
    )]
    NoThreadSettings,
    /// The agent refused what the driver must ask for.
    #[error(
        "the agent refused `{method}`: {message}; check that the profile's policy suits this version of the agent"
    )]
    Refused {
        /// What was asked.
        method: &'static str,
        /// The agent's words, shortened.
        message: String,
    },
    /// The driver has no way to do what a step asks; the profile should not declare it.
    #[error(
        "the driver `{driver}` cannot {action}; take the capability out of the profile's launch"
    )]
    Cannot {
        /// The driver.
        driver: &'static str,
        /// What was asked.
        action: &'static str,
    },
    /// The confinement failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A pipe to the agent failed.
    #[error("cannot exchange data with the agent: {0}")]
    Io(#[from] std::io::Error),
}

impl Context<'_> {
    /// The context of a process that goes on with the session.
    pub(super) fn resumed(&self, driver: &'static str) -> Result<Self, DriverError> {
        let arguments = self.launch.resume.clone();
        let arguments = arguments.ok_or(DriverError::Cannot { driver, action: "resume" })?;
        let launch = ResolvedLaunch { arguments, ..self.launch.clone() };
        Ok(Self { launch, ..self.clone() })
    }

    /// Starts the agent's process.
    pub(super) async fn start(&self, prompt: &str, stdin: Stdin) -> Result<Process, DriverError> {
        let launch = &self.launch;
        let argument = |argument: &Argument| match argument {
            Argument::Fixed(text) => text.into(),
            Argument::Prompt => prompt.into(),
        };
        let command = Command {
            program: launch.program.clone(),
            arguments: launch.arguments.iter().map(argument).collect(),
            environment: launch
                .environment
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            directory: launch.directory.clone(),
            stdin,
        };
        self.keeper.launch(command).await.map_err(|error| match error {
            SandboxError::Program { source, .. } => cannot_start(&launch.program, source),
            other => other.into(),
        })
    }
}

/// Tells apart what one error number of the kernel means (a missing program and a missing
/// interpreter look the same to it).
fn cannot_start(program: &Path, source: std::io::Error) -> DriverError {
    let program = program.to_owned();
    match std::fs::metadata(&program) {
        Err(_) => DriverError::NotFound { program },
        Ok(found) if !found.is_file() || access(&program, AccessFlags::X_OK).is_err() => {
            DriverError::NotExecutable { program }
        }
        Ok(_) => DriverError::CannotStart { program, source },
    }
}

/// A line for a message: at most 200 characters.
pub(super) fn shortened(line: &[u8]) -> String {
    const LIMIT: usize = 200;
    let line = String::from_utf8_lossy(&line[..line.len().min(4 * LIMIT)]);
    let mut short: String = line.chars().take(LIMIT).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
