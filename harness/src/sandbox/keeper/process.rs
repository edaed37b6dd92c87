//! A process below a keeper, as the harness sees it.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use conform_reports::record::Exit;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use super::handle::SandboxError;

/// A process to start.
#[derive(Debug, Clone)]
pub struct Command {
    /// Path of the program; not searched for.
    pub program: PathBuf,
    /// Arguments, without the program's own name.
    pub arguments: Vec<OsString>,
    /// The complete environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Working folder.
    pub directory: PathBuf,
    /// Standard input.
    pub stdin: Stdin,
}

/// Standard input of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// At its end from the start.
    Closed,
    /// A pipe.
    Piped,
}

/// A running process. Dropping it closes its pipes; the keeper still has it.
#[derive(Debug)]
pub struct Process {
    /// Process id.
    pub pid: i32,
    /// The other end of its standard input, if it was asked for.
    pub stdin: Option<pipe::Sender>,
    /// The other end of its standard output.
    pub stdout: pipe::Receiver,
    /// The other end of its standard error.
    pub stderr: pipe::Receiver,
    /// How it ended.
    pub exit: ExitWatch,
}

/// Waits for the end of a process.
#[derive(Debug)]
pub struct ExitWatch {
    told: oneshot::Receiver<Exit>,
    known: Option<Exit>,
}

impl ExitWatch {
    pub(super) fn new(told: oneshot::Receiver<Exit>) -> Self {
        Self { told, known: None }
    }

    /// Waits until the process has ended. May be cancelled and called again.
    ///
    /// # Errors
    /// When the keeper ended first.
    pub async fn wait(&mut self) -> Result<Exit, SandboxError> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let exit = (&mut self.told).await.map_err(|_| SandboxError::KeeperLost)?;
        self.known = Some(exit.clone());
        Ok(exit)
    }

    /// How it ended, if it has.
    pub fn known(&mut self) -> Option<Exit> {
        if self.known.is_none() {
            self.known = self.told.try_recv().ok();
        }
        self.known.clone()
    }
}

/// The harness's ends of a process's pipes.
pub(super) struct Pipes {
    pub(super) stdin: Option<pipe::Sender>,
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

/// Makes the pipes of a process: the harness's ends and the process's ends.
pub(super) fn pipes(stdin: Stdin) -> std::io::Result<(Pipes, [OwnedFd; 3])> {
    let (their_stdin, our_stdin) = match stdin {
        Stdin::Closed => (std::fs::File::open("/dev/null")?.into(), None),
        Stdin::Piped => {
            let (reader, writer) = std::io::pipe()?;
            (reader.into(), Some(pipe::Sender::from_owned_fd(writer.into())?))
        }
    };
    let (our_stdout, their_stdout) = std::io::pipe()?;
    let (our_stderr, their_stderr) = std::io::pipe()?;
    let pipes = Pipes {
        stdin: our_stdin,
        stdout: pipe::Receiver::from_owned_fd(our_stdout.into())?,
        stderr: pipe::Receiver::from_owned_fd(our_stderr.into())?,
    };
    Ok((pipes, [their_stdin, their_stdout.into(), their_stderr.into()]))
}
