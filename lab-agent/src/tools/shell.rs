//! `shell`: one command line in a process group of its own.

use std::{
    ffi::OsString,
    io::{self, ErrorKind, Read},
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use nix::{
    sys::{
        signal::{Signal, killpg},
        wait::{Id, WaitPidFlag, waitid},
    },
    unistd::Pid,
};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe::Receiver,
    process::{Child, Command},
    time::timeout,
};

use super::outcome::{OUTPUT_CAP, Outcome, capped};

const DEFAULT_TIMEOUT_MS: u64 = 10_000;

/// The variables that a command sees; nothing else of the agent's environment reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellEnvironment(Vec<(&'static str, OsString)>);

impl ShellEnvironment {
    /// Takes the four variables out of the agent's own environment.
    ///
    /// Relative folders leave the search path, and so do folders inside `workspace`: otherwise a
    /// planted file named like a plain program would run in its place.
    pub(crate) fn scrub(get: impl Fn(&str) -> Option<OsString>, workspace: &Path) -> Self {
        let path = get("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let folders = std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute() && !folder.starts_with(workspace));
        let mut variables = Vec::new();
        if let Ok(path) = std::env::join_paths(folders) {
            variables.push(("PATH", path));
        }
        for name in ["HOME", "TMPDIR", "LANG"] {
            if let Some(value) = get(name) {
                variables.push((name, value));
            }
        }
        Self(variables)
    }
}

/// The shell tool of one session.
#[derive(Debug)]
pub(crate) struct Shell {
    cwd: PathBuf,
    environment: ShellEnvironment,
}

impl Shell {
    pub(crate) fn new(cwd: PathBuf, environment: ShellEnvironment) -> Self {
        Self { cwd, environment }
    }

    /// Runs `sh -c command` until it ends or its time is up. Whatever it started is killed with it.
    /// Dropping the future kills the group too.
    pub(crate) async fn run(&self, command: &str, timeout_ms: Option<u64>) -> Outcome {
        let limit = timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
        let mut running = match self.start(command) {
            Ok(running) => running,
            Err(error) => return Outcome::error(format!("cannot start sh: {error}")),
        };
        let ended = timeout(Duration::from_millis(limit), running.wait()).await;
        running.group.kill();
        let output = match running.output() {
            Ok(output) => output,
            Err(error) => return Outcome::error(format!("cannot read the output: {error}")),
        };
        match ended {
            Ok(Ok(status)) => finished(status, &output),
            Ok(Err(error)) => Outcome::error(format!("cannot wait for the command: {error}")),
            Err(_elapsed) => Outcome::timeout(format!("killed after {limit} ms")).with_body(output),
        }
    }

    fn start(&self, command: &str) -> io::Result<Running> {
        // One pipe for both streams keeps their order.
        let (reader, writer) = io::pipe()?;
        let mut child = Command::new("sh");
        child
            .arg("-c")
            .arg(command)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.environment.0.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stderr(writer.try_clone()?)
            .stdout(writer)
            .process_group(0)
            .kill_on_drop(true);
        let child = child.spawn()?;
        let group = Group(child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw));
        let pipe = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        Ok(Running { group, child, pipe, kept: Vec::new(), total: 0 })
    }
}

fn finished(status: ExitStatus, output: &str) -> Outcome {
    match (status.code(), status.signal()) {
        (Some(0), _) => Outcome::ok(format!("exit status 0\n{output}")),
        (Some(code), _) => {
            Outcome::error("command failed").with_body(format!("exit status {code}\n{output}"))
        }
        (None, signal) => {
            let signal = signal.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
            Outcome::error(format!("command killed by signal {signal}")).with_body(output)
        }
    }
}

/// The process group of one command. It is killed when this goes out of scope, however that comes.
struct Group(Option<Pid>);

impl Group {
    fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            // The only failure is a group whose members are all gone, which is what is wanted.
            let _gone = killpg(group, Signal::SIGKILL);
            // The command is dead when this returns, and left for its owner to reap. Fails only if
            // that has been done already.
            let _reaped = waitid(Id::Pid(group), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

struct Running {
    group: Group,
    child: Child,
    pipe: Receiver,
    kept: Vec<u8>,
    total: usize,
}

impl Running {
    /// Collects output until the command itself ends. A background process that still holds the
    /// pipe does not keep the agent waiting.
    async fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut buffer = vec![0; 8192];
        let mut open = true;
        loop {
            tokio::select! {
                biased;
                read = self.pipe.read(&mut buffer), if open => match read? {
                    0 => open = false,
                    count => keep(&mut self.kept, &mut self.total, &buffer[..count]),
                },
                status = self.child.wait() => return status,
            }
        }
    }

    /// Everything written so far. The group is dead, so what is in the pipe is all there will be.
    fn output(mut self) -> io::Result<String> {
        let mut rest = std::fs::File::from(self.pipe.into_nonblocking_fd()?);
        let mut buffer = vec![0; 8192];
        loop {
            match rest.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => keep(&mut self.kept, &mut self.total, &buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(capped(&self.kept, self.total))
    }
}

fn keep(kept: &mut Vec<u8>, total: &mut usize, bytes: &[u8]) {
    *total += bytes.len();
    let room = OUTPUT_CAP.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use tokio::{io::Interest, net::unix::pipe};

    use super::*;

    fn shell(folder: &Path) -> Shell {
        let environment = ShellEnvironment::scrub(
            |name| (name == "HOME").then(|| folder.as_os_str().to_owned()),
            folder,
        );
        Shell::new(folder.to_owned(), environment)
    }

    async fn run(command: &str, timeout_ms: Option<u64>) -> String {
        let folder = tempfile::tempdir().unwrap();
        shell(folder.path()).run(command, timeout_ms).await.text()
    }

    #[tokio::test]
    async fn output_of_both_streams_keeps_its_order() {
        assert_eq!(run("echo a; echo b >&2; echo c", None).await, "ok\nexit status 0\na\nb\nc\n");
    }

    #[tokio::test]
    async fn a_failed_command_is_an_error_with_its_own_status() {
        for code in [1, 2, 126, 127] {
            let text = run(&format!("echo x; exit {code}"), None).await;
            assert_eq!(text, format!("error: command failed\nexit status {code}\nx\n"));
        }
        assert_eq!(run("kill -9 $$", None).await, "error: command killed by signal 9");
    }

    #[tokio::test]
    async fn a_command_beyond_its_time_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("gate");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        // The child waits on a pipe that this test opens afterwards: nobody may be left to read it.
        let command = "(cat gate; touch survived) & wait";
        let text = shell(folder.path()).run(command, Some(100)).await.text();
        assert_eq!(text, "timeout: killed after 100 ms");
        // An open fails when no reader is left; otherwise the last one must be about to go.
        if let Ok(sender) = pipe::OpenOptions::new().open_sender(&fifo) {
            let gone = sender.ready(Interest::ERROR);
            timeout(Duration::from_secs(30), gone).await.expect("a child survived").unwrap();
        }
        assert!(!folder.path().join("survived").exists());
    }

    #[tokio::test]
    async fn a_background_process_does_not_outlive_its_command() {
        assert_eq!(run("sleep 300 & echo done", None).await, "ok\nexit status 0\ndone\n");
    }

    #[tokio::test]
    async fn the_environment_holds_four_variables_at_most() {
        let text = run("env", None).await;
        let names: Vec<&str> = text
            .lines()
            .skip(2)
            .filter_map(|line| line.split_once('=').map(|(name, _)| name))
            .filter(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name))
            .collect();
        assert_eq!(names.len(), 2, "{text}");
        assert!(names.contains(&"PATH") && names.contains(&"HOME"));
    }

    #[test]
    fn planted_programs_are_off_the_search_path() {
        let environment = ShellEnvironment::scrub(
            |name| (name == "PATH").then(|| "bin:/project/bin:/usr/bin:".into()),
            Path::new("/project"),
        );
        assert_eq!(environment.0, [("PATH", OsString::from("/usr/bin"))]);
    }
}
