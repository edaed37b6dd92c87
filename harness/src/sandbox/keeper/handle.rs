//! The keeper as the harness holds it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use conform_reports::record::Exit;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::socket::{AddressFamily, Shutdown, SockFlag, SockType, shutdown, socketpair};
use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::channel::{Inbox, Outgoing};
use super::message::{LaunchCommand, MessageError, Reply, Request, Stage};
use super::process::{Command, ExitWatch, Process, pipes};
use super::program::{FILES, NETWORK, NO_NETWORK, SUBCOMMAND};
use crate::sandbox::{Files, Isolation, IsolationOutcome};

/// How long a keeper may take to be set up.
const START_LIMIT: Duration = Duration::from_secs(30);

/// How to start a keeper.
#[derive(Debug, Clone, Default)]
pub struct KeeperOptions {
    /// How far the run is cut off from the machine.
    pub isolation: Isolation,
    /// The conform executable; `None`: the one that runs.
    pub executable: Option<PathBuf>,
    /// What the run sees of the files; `None`: the machine's as they are, which is then no
    /// shortcoming to [`Isolation::Strict`].
    pub files: Option<Files>,
}

/// The confinement failed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The keeper's process could not be started.
    #[error("cannot start the keeper process {program}: {source}; is the executable still there?")]
    Keeper {
        /// The executable.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// Not as isolated as was demanded.
    #[error("cannot cut the case off from the machine: {why}; or choose isolation none")]
    Isolation {
        /// Why.
        why: String,
    },
    /// The keeper could not even listen.
    #[error("cannot set up the case: {why}")]
    SetUp {
        /// Why.
        why: String,
    },
    /// The keeper ended before the run did.
    #[error(
        "the keeper process ended before the case did; its processes were killed; something killed it, or memory ran out"
    )]
    KeeperLost,
    /// The keeper did not answer.
    #[error("the keeper process did not get ready within {} s; is {program} conform?", START_LIMIT.as_secs())]
    KeeperSilent {
        /// The executable.
        program: String,
    },
    /// Its message could not be read.
    #[error("{0}")]
    Message(String),
    /// The working folder of a process is not there.
    #[error("cannot start {program} in {directory}: {source}")]
    Directory {
        /// The program.
        program: String,
        /// The folder.
        directory: String,
        /// Why.
        source: io::Error,
    },
    /// A program could not be run.
    #[error("cannot run {program}: {source}")]
    Program {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// Processes outlived SIGKILL.
    #[error("cannot kill {}: they run as another user or are stuck in the kernel; end them by hand", names.join(", "))]
    Unkillable {
        /// Their names.
        names: Vec<String>,
    },
    /// Pipes or sockets.
    #[error("cannot talk to the case's processes: {0}")]
    Io(#[from] io::Error),
}

impl From<MessageError> for SandboxError {
    fn from(error: MessageError) -> Self {
        Self::Message(error.to_string())
    }
}

/// The confinement of one run. Dropping it kills every process of the run; [`Keeper::end`] also
/// says what was left over.
#[derive(Debug)]
pub struct Keeper {
    link: Arc<Link>,
    reader: tokio::task::JoinHandle<()>,
    process: tokio::process::Child,
    isolation: IsolationOutcome,
}

impl Keeper {
    /// Starts a keeper, and makes the listener on 127.0.0.1 that its processes can reach.
    ///
    /// # Errors
    /// When it cannot be started, or cannot do what [`Isolation::Strict`] demands.
    pub async fn start(options: KeeperOptions) -> Result<(Self, TcpListener), SandboxError> {
        let program = match options.executable {
            Some(program) => program,
            None => std::env::current_exe().map_err(|source| SandboxError::Keeper {
                program: "(this executable)".to_owned(),
                source,
            })?,
        };
        let files = options.files.as_ref();
        let whole =
            files.filter(|_| matches!(options.isolation, Isolation::Auto | Isolation::Strict));
        let mut why = "switched off".to_owned();
        if let Some(files) = whole {
            match Starting::new(&program, NETWORK, Some(files))?.ready().await? {
                Ok((starting, listener)) => {
                    return Ok((starting.into_keeper(IsolationOutcome::Whole), listener));
                }
                Err(refusal) if options.isolation == Isolation::Strict => {
                    return Err(SandboxError::Isolation { why: refusal });
                }
                Err(refusal) => why = refusal,
            }
        }
        if options.isolation != Isolation::None {
            match Starting::new(&program, NETWORK, None)?.ready().await? {
                Ok((starting, listener)) => {
                    return Ok((starting.into_keeper(IsolationOutcome::Network { why }), listener));
                }
                Err(refusal) if options.isolation != Isolation::Auto => {
                    return Err(SandboxError::Isolation { why: refusal });
                }
                Err(refusal) => why = refusal,
            }
        }
        let (starting, listener) = Starting::new(&program, NO_NETWORK, None)?
            .ready()
            .await?
            .map_err(|why| SandboxError::SetUp { why })?;
        Ok((starting.into_keeper(IsolationOutcome::None { why }), listener))
    }

    /// How far the run is cut off from the machine.
    pub fn isolation(&self) -> &IsolationOutcome {
        &self.isolation
    }

    /// Starts a process.
    ///
    /// # Errors
    /// When the program or the folder cannot be used, or the keeper is gone.
    pub async fn launch(&self, command: Command) -> Result<Process, SandboxError> {
        let program = command.program.display().to_string();
        let directory = command.directory.display().to_string();
        let (ours, theirs) = pipes(command.stdin)?;
        let command = lower(&command)
            .map_err(|source| SandboxError::Program { program: program.clone(), source })?;
        let (started_sender, started) = oneshot::channel();
        let (exit_sender, exit) = oneshot::channel();
        let id = {
            let mut state = self.link.state();
            let id = state.next_id;
            state.next_id += 1;
            state.launches.insert(
                id,
                Launched { started: Some(started_sender), pid: None, exit: exit_sender },
            );
            id
        };
        self.link.send(&Request::Launch { id, command, stdio: theirs }).await?;
        let pid = match started.await.map_err(|_| SandboxError::KeeperLost)? {
            Ok(pid) => pid,
            Err((Stage::Directory, source)) => {
                return Err(SandboxError::Directory { program, directory, source });
            }
            Err((Stage::Program, source)) => return Err(SandboxError::Program { program, source }),
        };
        Ok(Process {
            pid,
            stdin: ours.stdin,
            stdout: ours.stdout,
            stderr: ours.stderr,
            exit: ExitWatch::new(exit),
        })
    }

    /// Kills every process of the run. The names of those that were left over (see the module's
    /// documentation), sorted; a launched process that still ran is not one of them. The keeper
    /// can launch again afterwards.
    ///
    /// # Errors
    /// When a process does not die, or the keeper is gone.
    pub async fn sweep(&self) -> Result<Vec<String>, SandboxError> {
        let (sender, swept) = oneshot::channel();
        self.link.state().sweeps.push(sender);
        self.link.send(&Request::Sweep).await?;
        let (leftovers, unkillable) = swept.await.map_err(|_| SandboxError::KeeperLost)?;
        if unkillable.is_empty() {
            Ok(leftovers)
        } else {
            Err(SandboxError::Unkillable { names: unkillable })
        }
    }

    /// Kills every process of the run, as [`Keeper::sweep`] does, and ends the keeper.
    ///
    /// # Errors
    /// When a process does not die, or the keeper is gone.
    pub async fn end(mut self) -> Result<Vec<String>, SandboxError> {
        let swept = self.sweep().await;
        self.link.close();
        self.process.wait().await?;
        swept
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.link.close();
        self.reader.abort();
    }
}

/// A keeper that has not answered yet.
struct Starting {
    program: String,
    socket: UnixStream,
    process: tokio::process::Child,
}

impl Starting {
    fn new(program: &Path, network: &str, files: Option<&Files>) -> Result<Self, SandboxError> {
        let failed =
            |source| SandboxError::Keeper { program: program.display().to_string(), source };
        let (ours, theirs) =
            socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)
                .map_err(|errno| failed(errno.into()))?;
        let mut command = tokio::process::Command::new(program);
        command.args([SUBCOMMAND, network]);
        if let Some(files) = files {
            command.arg(FILES).arg(&files.case).args(&files.needed);
        }
        let process = command
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let socket = std::os::unix::net::UnixStream::from(ours);
        socket.set_nonblocking(true)?;
        let socket = UnixStream::from_std(socket)?;
        Ok(Self { program: program.display().to_string(), socket, process })
    }

    /// Waits for the listener, or for why there is none.
    async fn ready(self) -> Result<Result<(Self, TcpListener), String>, SandboxError> {
        let mut inbox = Inbox::default();
        let receive = receive(&self.socket, &mut inbox);
        let reply = tokio::time::timeout(START_LIMIT, receive)
            .await
            .map_err(|_| SandboxError::KeeperSilent { program: self.program.clone() })??;
        match reply {
            Some(Reply::Ready(listener)) => Ok(Ok((self, TcpListener::from(listener)))),
            Some(Reply::Refused(why)) => Ok(Err(why)),
            Some(_) => Err(MessageError("an answer before the first question").into()),
            None => Err(SandboxError::KeeperLost),
        }
    }

    fn into_keeper(self, isolation: IsolationOutcome) -> Keeper {
        let link = Arc::new(Link {
            socket: self.socket,
            state: Mutex::default(),
            sending: tokio::sync::Mutex::default(),
        });
        let reader = tokio::spawn(read_replies(Arc::clone(&link)));
        Keeper { link, reader, process: self.process, isolation }
    }
}

/// The socket and who waits for what.
#[derive(Debug)]
struct Link {
    socket: UnixStream,
    state: Mutex<State>,
    /// Held while a message is sent, so that two do not mix.
    sending: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    next_id: u32,
    launches: HashMap<u32, Launched>,
    sweeps: Vec<oneshot::Sender<(Vec<String>, Vec<String>)>>,
    lost: bool,
}

#[derive(Debug)]
struct Launched {
    started: Option<oneshot::Sender<Result<i32, (Stage, io::Error)>>>,
    pid: Option<i32>,
    exit: oneshot::Sender<Exit>,
}

impl Link {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keeper sees the end of the socket, kills everything and ends.
    fn close(&self) {
        // Fails only when the other side is gone already.
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Both);
    }

    async fn send(&self, request: &Request) -> Result<(), SandboxError> {
        let _turn = self.sending.lock().await;
        if self.state().lost {
            return Err(SandboxError::KeeperLost);
        }
        let descriptors: Vec<BorrowedFd<'_>> = match request {
            Request::Launch { stdio, .. } => stdio.iter().map(AsFd::as_fd).collect(),
            Request::Sweep => Vec::new(),
        };
        let mut outgoing = Outgoing::new(request)?;
        let mut whole = WholeOrNothing { link: self, sent: false };
        loop {
            let sent = self
                .socket
                .async_io(Interest::WRITABLE, || {
                    Ok(outgoing.send(self.socket.as_fd(), &descriptors)?)
                })
                .await;
            match sent {
                Ok(true) => {
                    whole.sent = true;
                    return Ok(());
                }
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Err(SandboxError::KeeperLost);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Closes the link when a message may have been cut off: nothing after it could be read.
struct WholeOrNothing<'a> {
    link: &'a Link,
    sent: bool,
}

impl Drop for WholeOrNothing<'_> {
    fn drop(&mut self) {
        if !self.sent {
            self.link.close();
        }
    }
}

/// The next reply; `None`: the keeper is gone.
async fn receive(socket: &UnixStream, inbox: &mut Inbox) -> Result<Option<Reply>, SandboxError> {
    loop {
        if let Some(reply) = inbox.next()? {
            return Ok(Some(reply));
        }
        let received =
            socket.async_io(Interest::READABLE, || Ok(inbox.receive(socket.as_fd())?)).await;
        match received {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Hands replies to those who wait, until the keeper is gone.
async fn read_replies(link: Arc<Link>) {
    let mut inbox = Inbox::default();
    // A reply that cannot be read is treated as the keeper's end: whoever waits is told so.
    while let Ok(Some(reply)) = receive(&link.socket, &mut inbox).await {
        let mut state = link.state();
        // A receiver that is gone no longer wants to know, here and below.
        match reply {
            Reply::Started { id, pid } => {
                if let Some(launched) = state.launches.get_mut(&id) {
                    launched.pid = Some(pid);
                    let _ = launched.started.take().map(|started| started.send(Ok(pid)));
                }
            }
            Reply::Failed { id, stage, errno } => {
                let launched = state.launches.remove(&id);
                if let Some(started) = launched.and_then(|launched| launched.started) {
                    let _ = started.send(Err((stage, Errno::from_raw(errno).into())));
                }
            }
            Reply::Exited { id, exit } => {
                let _ = state.launches.remove(&id).map(|launched| launched.exit.send(exit));
            }
            Reply::Swept { leftovers, unkillable } => {
                if !state.sweeps.is_empty() {
                    let _ = state.sweeps.remove(0).send((leftovers, unkillable));
                }
            }
            Reply::Ready(_) | Reply::Refused(_) => {}
        }
    }
    let mut state = link.state();
    state.lost = true;
    state.sweeps.clear();
    for (_, launched) in state.launches.drain() {
        // The keeper could not kill it any more; what it forked into other groups is out of reach.
        if let Some(pid) = launched.pid {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// Arguments and environment as the kernel takes them.
fn lower(command: &Command) -> io::Result<LaunchCommand> {
    let bytes = |text: &OsStr| {
        let bytes = text.as_bytes().to_vec();
        if bytes.contains(&0) {
            let problem = format!("{} holds a NUL byte", text.to_string_lossy().escape_debug());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(bytes)
    };
    Ok(LaunchCommand {
        program: bytes(command.program.as_os_str())?,
        arguments: command
            .arguments
            .iter()
            .map(|argument| bytes(argument))
            .collect::<io::Result<_>>()?,
        environment: command
            .environment
            .iter()
            .map(|(name, value)| {
                let mut entry = name.clone();
                entry.push("=");
                entry.push(value);
                bytes(&entry)
            })
            .collect::<io::Result<_>>()?,
        directory: bytes(command.directory.as_os_str())?,
    })
}
