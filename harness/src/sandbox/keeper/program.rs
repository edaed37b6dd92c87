//! The keeper's own process: its set-up and its loop.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use conform_reports::record::Exit;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::stat::{Mode, umask};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, chdir, close, setsid};

use super::channel::{Inbox, Outgoing};
use super::descendants::{Descendant, below_this_process};
use super::message::{MessageError, Reply, Request};
use super::spawn::spawn;
use crate::sandbox::{Files, files, network};

/// The subcommand that makes the executable a keeper.
pub(super) const SUBCOMMAND: &str = "keeper";

/// The argument that asks for a network namespace.
pub(super) const NETWORK: &str = "network";

/// The argument that asks for none.
pub(super) const NO_NETWORK: &str = "no-network";

/// The argument that asks for files of the run's own; the case folder follows it, and then what is
/// needed.
pub(super) const FILES: &str = "files";

/// How long processes that are about to end may take before they count as left over.
const GRACE: Duration = Duration::from_millis(500);

/// How long killed processes may take to be gone.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// How often killing is repeated when no child ends meanwhile.
const KILL_AGAIN: Duration = Duration::from_millis(50);

/// Whether this process was started as a keeper. Ask before anything else in `main`, before
/// threads are started.
pub fn is_asked_for() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == SUBCOMMAND)
}

/// Runs the keeper until the harness lets go of it: the hidden subcommand `conform keeper`.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("conform keeper: {error}");
            ExitCode::from(3)
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum KeeperError {
    #[error("this subcommand is started by conform itself; use `conform run`")]
    NotByHand,
    #[error("cannot {what}: {errno}")]
    System { what: &'static str, errno: Errno },
    #[error("cannot read /proc: {0}")]
    Proc(#[from] std::io::Error),
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The harness is gone; not a failure.
    #[error("the harness is gone")]
    HarnessGone,
}

fn system(what: &'static str) -> impl FnOnce(Errno) -> KeeperError {
    move |errno| KeeperError::System { what, errno }
}

fn run() -> Result<(), KeeperError> {
    let asked = Asked::read(std::env::args_os().skip(2)).ok_or(KeeperError::NotByHand)?;
    let stdin = std::io::stdin();
    let socket = stdin.as_fd();
    let signals = set_up()?;
    let ready = || {
        if asked.network {
            network::enter().map_err(|error| error.to_string())?;
        }
        if let Some(files) = &asked.files {
            files::confine(files).map_err(|error| error.to_string())?;
        }
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|error| format!("cannot listen on 127.0.0.1: {error}"))
    };
    let mut keeper = Running { socket, signals, launched: HashMap::new(), killing: false };
    match ready() {
        Ok(listener) => keeper.reply(&Reply::Ready(listener.into()))?,
        Err(why) => return keeper.reply(&Reply::Refused(why)),
    }
    // Whatever ends the loop, nothing is left running.
    let served = keeper.serve();
    let unkillable = keeper.kill_all()?;
    if !unkillable.is_empty() {
        anstream::eprintln!("conform keeper: cannot kill {}", unkillable.join(", "));
    }
    match served {
        Err(KeeperError::HarnessGone) => Ok(()),
        other => other,
    }
}

/// What the command line asks for.
struct Asked {
    network: bool,
    files: Option<Files>,
}

impl Asked {
    /// `None` when it was not written by the harness.
    fn read(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let network = match arguments.next()?.to_str()? {
            NETWORK => true,
            NO_NETWORK => false,
            _ => return None,
        };
        let files = match arguments.next() {
            None => None,
            Some(word) if word == FILES => Some(Files {
                case: arguments.next()?.into(),
                needed: arguments.map(PathBuf::from).collect(),
            }),
            Some(_) => return None,
        };
        Some(Self { network, files })
    }
}

/// Cuts the keeper off from whatever the harness was started with, and prepares what its children
/// inherit. The descriptor tells of ended children.
fn set_up() -> Result<SignalFd, KeeperError> {
    let mut inherited = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        inherited.extend(name.to_str().and_then(|n| n.parse::<i32>().ok()).filter(|n| *n > 2));
    }
    for descriptor in inherited {
        match close(descriptor) {
            // The descriptor of the listing itself is closed already.
            Ok(()) | Err(Errno::EBADF) => {}
            Err(errno) => return Err(system("close an inherited file")(errno)),
        }
    }
    match setsid() {
        // Already the leader of a group, as when started from a shell: no harm.
        Ok(_) | Err(Errno::EPERM) => {}
        Err(errno) => return Err(system("leave the terminal's session")(errno)),
    }
    chdir("/").map_err(system("change to /"))?;
    umask(Mode::from_bits_truncate(0o022));
    let (_, hard) = getrlimit(Resource::RLIMIT_CORE).map_err(system("read limits"))?;
    setrlimit(Resource::RLIMIT_CORE, 0, hard).map_err(system("switch core files off"))?;
    set_child_subreaper(true).map_err(system("adopt orphans"))?;
    // Nothing below may stop the keeper by a signal that can be blocked.
    SigSet::all().thread_block().map_err(system("block signals"))?;
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    SignalFd::with_flags(&children, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
        .map_err(system("watch children"))
}

/// A keeper that is set up.
struct Running<'a> {
    socket: BorrowedFd<'a>,
    signals: SignalFd,
    /// Launched processes that still run, and the harness's names for them.
    launched: HashMap<Pid, u32>,
    /// Whether the keeper has begun to kill.
    killing: bool,
}

impl Running<'_> {
    fn serve(&mut self) -> Result<(), KeeperError> {
        let mut inbox = Inbox::default();
        loop {
            self.reap()?;
            let mut sources = [
                PollFd::new(self.socket, PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut sources, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(system("wait for events")(errno)),
            }
            let arrived = sources[0].any().unwrap_or(true);
            self.drain_signals()?;
            if !arrived {
                continue;
            }
            match inbox.receive(self.socket) {
                Ok(0) | Err(Errno::ECONNRESET) => return Ok(()),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(system("read from the harness")(errno)),
            }
            while let Some(request) = inbox.next()? {
                self.handle(request)?;
            }
        }
    }

    fn handle(&mut self, request: Request) -> Result<(), KeeperError> {
        let reply = match request {
            Request::Launch { id, command, stdio } => match spawn(command, &stdio) {
                Ok(pid) => {
                    self.launched.insert(pid, id);
                    Reply::Started { id, pid: pid.as_raw() }
                }
                Err((stage, errno)) => Reply::Failed { id, stage, errno: errno as i32 },
            },
            Request::Sweep => {
                let leftovers = self.leftovers()?;
                let unkillable = self.kill_all()?;
                Reply::Swept { leftovers, unkillable }
            }
        };
        self.reply(&reply)
    }

    /// Names of the processes left over, sorted; returns early when there are none.
    fn leftovers(&mut self) -> Result<Vec<String>, KeeperError> {
        let deadline = Instant::now() + GRACE;
        loop {
            if !self.reap()? {
                return Ok(Vec::new());
            }
            let running = self.launched.keys().copied().collect();
            let left = living(below_this_process(&running)?);
            // Of a tree that is left over, the top is the keeper's child: its end is a signal.
            let now = Instant::now();
            // Empty although children are left: they are the launched ones, or were too quick to be
            // seen.
            if left.is_empty() && !self.launched.is_empty() || now >= deadline {
                let mut names: Vec<String> = left.into_iter().map(|found| found.name).collect();
                names.sort();
                return Ok(names);
            }
            self.wait_for_child(deadline - now)?;
        }
    }

    /// Kills everything below until no child is left. Names of what does not die.
    fn kill_all(&mut self) -> Result<Vec<String>, KeeperError> {
        self.killing = true;
        let deadline = Instant::now() + KILL_LIMIT;
        while self.reap()? {
            let found = living(below_this_process(&HashSet::new())?);
            if Instant::now() >= deadline {
                let mut names: Vec<String> = found.into_iter().map(|found| found.name).collect();
                if names.is_empty() {
                    names.push("processes that are too quick to be seen".to_owned());
                }
                return Ok(names);
            }
            for descendant in &found {
                match kill(descendant.pid, Signal::SIGKILL) {
                    // One that may not be killed (another user's) is named when time is up.
                    Ok(()) | Err(Errno::ESRCH | Errno::EPERM) => {}
                    Err(errno) => return Err(system("kill a process")(errno)),
                }
            }
            // A child that was forked meanwhile becomes ours when its parent ends: the end of the
            // parent wakes us, and the next round finds the child.
            self.wait_for_child(KILL_AGAIN)?;
        }
        self.killing = false;
        Ok(Vec::new())
    }

    /// Takes note of ended children. Whether any child is left.
    fn reap(&mut self) -> Result<bool, KeeperError> {
        loop {
            let (pid, exit) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return Ok(true),
                Err(Errno::ECHILD) => return Ok(false),
                Ok(WaitStatus::Exited(pid, status)) => (pid, Exit::Status { status }),
                Ok(WaitStatus::Signaled(pid, Signal::SIGKILL, _)) if self.killing => {
                    (pid, Exit::Killed)
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) => {
                    (pid, Exit::Signal { signal: signal as i32 })
                }
                // A child was reaped whose signal has no name (a real-time one).
                Err(Errno::EINVAL) => {
                    let gone = |pid: &Pid| kill(*pid, None) == Err(Errno::ESRCH);
                    match self.launched.keys().copied().find(gone) {
                        Some(pid) => (pid, Exit::Unknown),
                        None => continue,
                    }
                }
                Ok(_) | Err(Errno::EINTR) => continue,
                Err(errno) => return Err(system("wait for children")(errno)),
            };
            if let Some(id) = self.launched.remove(&pid) {
                match self.reply(&Reply::Exited { id, exit }) {
                    // Nobody listens any more; the killing must go on.
                    Err(KeeperError::HarnessGone) if self.killing => {}
                    other => other?,
                }
            }
        }
    }

    fn wait_for_child(&self, limit: Duration) -> Result<(), KeeperError> {
        let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        let mut sources = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut sources, limit) {
            Ok(_) | Err(Errno::EINTR) => self.drain_signals(),
            Err(errno) => Err(system("wait for children")(errno)),
        }
    }

    fn drain_signals(&self) -> Result<(), KeeperError> {
        while self.signals.read_signal().map_err(system("read signals"))?.is_some() {}
        Ok(())
    }

    fn reply(&self, reply: &Reply) -> Result<(), KeeperError> {
        let descriptors = match reply {
            Reply::Ready(listener) => vec![listener.as_fd()],
            _ => Vec::new(),
        };
        match Outgoing::new(reply)?.send_all(self.socket, &descriptors) {
            Ok(()) => Ok(()),
            Err(Errno::EPIPE | Errno::ECONNRESET) => Err(KeeperError::HarnessGone),
            Err(Errno::ENOTSOCK) => Err(KeeperError::NotByHand),
            Err(errno) => Err(system("write to the harness")(errno)),
        }
    }
}

fn living(found: Vec<Descendant>) -> Vec<Descendant> {
    found.into_iter().filter(|descendant| !descendant.ended).collect()
}
