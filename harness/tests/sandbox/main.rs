//! The keeper with real processes.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod files;

use std::ffi::OsString;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use conform::sandbox::{
    Command, Isolation, IsolationOutcome, Keeper, KeeperOptions, Process, SandboxError, Stdin,
};
use conform_reports::record::Exit;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid, mkfifo};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn conform() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_conform"))
}

async fn start(isolation: Isolation) -> (Keeper, TcpListener) {
    let options = KeeperOptions { isolation, executable: Some(conform()), files: None };
    Keeper::start(options).await.unwrap()
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    Command {
        program: program.to_owned(),
        arguments: arguments.iter().map(OsString::from).collect(),
        environment: vec![("PATH".into(), PATH.into())],
        directory: "/".into(),
        stdin: Stdin::Closed,
    }
}

fn shell(script: &str) -> Command {
    command(Path::new("/bin/sh"), &["-c", script])
}

/// Runs to the end: what it wrote, and how it ended.
async fn run(keeper: &Keeper, command: Command) -> (String, Exit) {
    let mut process = keeper.launch(command).await.unwrap();
    let mut output = String::new();
    process.stdout.read_to_string(&mut output).await.unwrap();
    (output, process.exit.wait().await.unwrap())
}

async fn lines(process: &mut Process, count: usize) -> Vec<String> {
    let mut reader = BufReader::new(&mut process.stdout);
    let mut lines = Vec::new();
    for _ in 0..count {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).await.unwrap(), 0, "only {lines:?}");
        lines.push(line.trim_end().to_owned());
    }
    lines
}

fn is_gone(pid: &str) -> bool {
    kill(Pid::from_raw(pid.parse().unwrap()), None) == Err(Errno::ESRCH)
}

fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Starts an ignored test of this file as a program of its own.
fn as_program(name: &str) -> Command {
    let own = std::env::current_exe().unwrap();
    command(&own, &["--exact", "--ignored", "--nocapture", name])
}

/// Not a test: connects to `ADDRESS` and says what it read, or which error it got.
#[test]
#[ignore = "a program that other tests start"]
fn program_that_connects() {
    let address: SocketAddr = std::env::var("ADDRESS").unwrap().parse().unwrap();
    match TcpStream::connect(address) {
        Ok(mut stream) => {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
            println!("read <{text}>");
        }
        Err(error) => println!("error <{}>", Errno::from_raw(error.raw_os_error().unwrap())),
    }
}

async fn connect(keeper: &Keeper, address: &str) -> String {
    let mut command = as_program("program_that_connects");
    command.environment.push(("ADDRESS".into(), address.into()));
    run(keeper, command).await.0
}

async fn loopback_alone(keeper: &Keeper, listener: TcpListener) {
    let address = listener.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"hello").unwrap();
    });
    let inside = connect(keeper, &address.to_string()).await;
    assert!(inside.contains("read <hello>"), "{inside}");
    served.join().unwrap();
    // From outside, the listener does not exist.
    assert!(TcpStream::connect(address).is_err());
    let outward = connect(keeper, "192.0.2.1:80").await;
    assert!(outward.contains("error <ENETUNREACH"), "{outward}");
}

#[tokio::test]
async fn a_network_of_its_own_reaches_the_mock_and_nothing_else() {
    let (keeper, listener) = start(Isolation::Auto).await;
    if let IsolationOutcome::None { why } = keeper.isolation() {
        println!("skipped: {why}");
        return;
    }
    loopback_alone(&keeper, listener).await;
    assert!(keeper.end().await.unwrap().is_empty());
}

/// The program as a user without privilege starts it; what it needs lies in `folder`.
fn unprivileged(folder: &Path) -> PathBuf {
    if !geteuid().is_root() {
        return conform();
    }
    let open = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    open(folder);
    let (copy, wrapper) = (folder.join("conform"), folder.join("wrapper"));
    std::fs::copy(conform(), &copy).unwrap();
    let script = format!(
        "#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups {} \"$@\"\n",
        copy.display()
    );
    std::fs::write(&wrapper, script).unwrap();
    open(&wrapper);
    wrapper
}

#[tokio::test]
async fn an_unprivileged_user_gets_a_network_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let executable = unprivileged(folder.path());
    let options =
        KeeperOptions { isolation: Isolation::Strict, executable: Some(executable), files: None };
    match Keeper::start(options).await {
        Ok((keeper, listener)) => {
            let (user, _) = run(&keeper, command(Path::new("/usr/bin/id"), &["-u"])).await;
            assert_ne!(user.trim(), "0");
            let address = listener.local_addr().unwrap();
            let (output, _) = run(&keeper, shell("cat /proc/net/tcp; cat /proc/net/route")).await;
            let port = format!("0100007F:{:04X}", address.port());
            assert!(output.contains(&port), "the listener is not in its network: {output}");
            assert_eq!(output.lines().filter(|line| line.starts_with("eth")).count(), 0);
            keeper.end().await.unwrap();
        }
        Err(SandboxError::Isolation { why }) => println!("skipped: {why}"),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn without_isolation_the_listener_is_the_machines() {
    let (keeper, listener) = start(Isolation::None).await;
    assert_eq!(keeper.isolation().to_string(), "none (switched off)");
    TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn a_process_gets_what_it_was_given_and_nothing_else() {
    // A file that every program started from here inherits, unless somebody closes it.
    let leak = std::fs::File::open("/proc/self/status").unwrap();
    fcntl(&leak, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    let (keeper, _listener) = start(Isolation::None).await;
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().canonicalize().unwrap();
    let with = |mut command: Command| {
        command.directory.clone_from(&directory);
        command
    };

    let mut environment = with(command(Path::new("/usr/bin/env"), &[]));
    environment.environment = vec![("ONLY".into(), "a b".into())];
    assert_eq!(run(&keeper, environment).await.0, "ONLY=a b\n");

    let script = "pwd; umask; ls -m /proc/$$/fd; ulimit -c; \
        grep -E 'Sig(Blk|Ign)' /proc/self/status; read -r stat </proc/$$/stat; echo $$ $stat";
    let (output, exit) = run(&keeper, with(shell(script))).await;
    assert_eq!(exit, Exit::Status { status: 0 });
    let seen: Vec<&str> = output.lines().collect();
    assert_eq!(seen[0], directory.to_str().unwrap());
    assert_eq!(seen[1..4], ["0022", "0, 1, 2", "0"]);
    let signals = |line: &str| u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap();
    assert_eq!(signals(seen[4]), 0, "blocked");
    // Signals 32 and 33 are the C library's own; it ignores them in what it starts.
    assert_eq!(signals(seen[5]) & !(0b11 << 31), 0, "ignored");
    // own pid, then: pid (name) state parent group session terminal
    let stat: Vec<&str> = seen[6].split(' ').collect();
    assert_eq!((stat[5], stat[6], stat[7]), (stat[0], stat[0], "0"), "{stat:?}");
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn exits_are_told_apart() {
    let (keeper, _listener) = start(Isolation::None).await;
    for (script, expected) in [
        ("exit 0", Exit::Status { status: 0 }),
        ("exit 3", Exit::Status { status: 3 }),
        ("kill -SEGV $$", Exit::Signal { signal: 11 }),
        ("kill -KILL $$", Exit::Signal { signal: 9 }),
        // A signal without a name of its own.
        ("kill -40 $$", Exit::Unknown),
    ] {
        assert_eq!(run(&keeper, shell(script)).await.1, expected, "{script}");
    }
    let mut running = keeper.launch(shell("echo ready; exec sleep 1000")).await.unwrap();
    lines(&mut running, 1).await;
    // What still runs and was launched is killed, but it is not left over.
    assert_eq!(keeper.sweep().await.unwrap(), Vec::<String>::new());
    assert_eq!(running.exit.wait().await.unwrap(), Exit::Killed);
    // The keeper is good for another process.
    assert_eq!(run(&keeper, shell("echo again")).await.0, "again\n");
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_started_is_said() {
    let (keeper, _listener) = start(Isolation::None).await;
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    let error = |command: Command| async { keeper.launch(command).await.unwrap_err() };
    let missing = error(command(Path::new("/nowhere/agent"), &[])).await;
    assert!(matches!(missing, SandboxError::Program { .. }), "{missing}");
    assert!(missing.to_string().contains("/nowhere/agent"), "{missing}");
    let plain = error(command(&plain, &[])).await;
    assert!(plain.to_string().contains("ermission denied"), "{plain}");
    let nul = error(command(Path::new("/bin/sh"), &["a\0b"])).await;
    assert!(nul.to_string().contains("NUL"), "{nul}");
    let mut nowhere = shell("true");
    nowhere.directory = "/nowhere".into();
    let nowhere = error(nowhere).await;
    assert!(matches!(nowhere, SandboxError::Directory { .. }), "{nowhere}");
    // The kernel takes no argument this long; the message is longer than a socket's buffer.
    let long = "x".repeat(3_000_000);
    let long = error(command(Path::new("/bin/sh"), &[&long])).await;
    assert!(long.to_string().contains("rgument list too long"), "{long}");
    let many: Vec<String> = (0..12).map(|_| "y".repeat(100_000)).collect();
    let many: Vec<&str> =
        ["-c", "echo $#"].into_iter().chain(many.iter().map(String::as_str)).collect();
    assert_eq!(run(&keeper, command(Path::new("/bin/sh"), &many)).await.0, "11\n");
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn a_daemon_is_found_and_killed() {
    let (keeper, _listener) = start(Isolation::None).await;
    let script = "(setsid sh -c 'echo $$; exec sleep 1000' &) ; exit 0";
    let mut process = keeper.launch(shell(script)).await.unwrap();
    let pid = lines(&mut process, 1).await.remove(0);
    assert_eq!(process.exit.wait().await.unwrap(), Exit::Status { status: 0 });
    let name = || std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    while name() != "sleep\n" {
        tokio::task::yield_now().await;
    }
    assert_eq!(keeper.end().await.unwrap(), ["sleep"]);
    assert!(is_gone(&pid));
}

#[tokio::test]
async fn a_child_about_to_end_is_not_left_over() {
    let (keeper, _listener) = start(Isolation::None).await;
    let mut command = shell("exec 3<&0; cat <&3 & echo started");
    command.stdin = Stdin::Piped;
    let mut process = keeper.launch(command).await.unwrap();
    lines(&mut process, 1).await;
    assert_eq!(process.exit.wait().await.unwrap(), Exit::Status { status: 0 });
    let stdin = process.stdin.take();
    // The sweep is asked for first; then `cat` sees the end of its input.
    let (leftovers, ()) = tokio::join!(keeper.sweep(), async { drop(stdin) });
    assert_eq!(leftovers.unwrap(), Vec::<String>::new());
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn a_storm_of_forks_is_killed_to_the_last() {
    let (keeper, _listener) = start(Isolation::None).await;
    let script = "i=0; while [ $i -lt 200 ]; do setsid sleep 1000 >/dev/null 2>&1 & echo $!; \
        i=$((i+1)); done";
    let mut process = keeper.launch(shell(script)).await.unwrap();
    let pids = lines(&mut process, 200).await;
    process.exit.wait().await.unwrap();
    assert_eq!(keeper.end().await.unwrap().len(), 200);
    assert!(pids.iter().all(|pid| is_gone(pid)));
}

#[tokio::test]
async fn a_chain_that_outruns_its_own_killing_is_caught() {
    let (keeper, _listener) = start(Isolation::None).await;
    let folder = tempfile::tempdir().unwrap();
    // Each link starts the next and ends. Left alone, the chain ends by writing a file.
    let script = "f() { if [ $1 -lt 100000 ]; then f $(($1+1)) & else echo >escaped; fi; }; f 0";
    let mut command = shell(script);
    command.directory = folder.path().to_owned();
    let mut process = keeper.launch(command).await.unwrap();
    process.exit.wait().await.unwrap();
    keeper.end().await.unwrap();
    assert!(!folder.path().join("escaped").exists());
}

/// A pipe with a name: it ends when the last process that holds it for writing has ended.
fn lifeline(folder: &Path) -> PathBuf {
    let path = folder.join("lifeline");
    mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    path
}

/// Runs until killed, holding the lifeline, as does a daemon of its own.
fn holder(lifeline: &Path) -> Command {
    let script = format!(
        "exec 3>{}; (setsid sleep 1000 &); echo holding $$ >&3; exec sleep 1000",
        lifeline.display()
    );
    shell(&script)
}

/// Not a test: a harness that can be killed.
#[tokio::test]
#[ignore = "a program that other tests start"]
async fn program_that_holds_a_keeper() {
    let lifeline = PathBuf::from(std::env::var("LIFELINE").unwrap());
    let (keeper, _listener) = start(Isolation::None).await;
    let _process = keeper.launch(holder(&lifeline)).await.unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn the_agent_dies_with_the_harness() {
    let folder = tempfile::tempdir().unwrap();
    let lifeline = lifeline(folder.path());
    let mut harness = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "program_that_holds_a_keeper"])
        .env("LIFELINE", &lifeline)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pipe = tokio::task::spawn_blocking(move || std::fs::File::open(lifeline).unwrap());
    let mut pipe = BufReader::new(tokio::fs::File::from_std(pipe.await.unwrap()));
    let mut line = String::new();
    pipe.read_line(&mut line).await.unwrap();
    harness.kill().await.unwrap();
    // Ends only because both holders were killed.
    assert_eq!(pipe.read_line(&mut line).await.unwrap(), 0);
    // Its files are closed a moment before it is gone.
    let pid = line.trim().strip_prefix("holding ").unwrap();
    while !is_gone(pid) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_the_keeper_kills_everything() {
    let folder = tempfile::tempdir().unwrap();
    let lifeline = lifeline(folder.path());
    let (keeper, _listener) = start(Isolation::None).await;
    let process = keeper.launch(holder(&lifeline)).await.unwrap();
    let pipe = tokio::task::spawn_blocking(move || std::fs::File::open(lifeline).unwrap());
    let mut pipe = BufReader::new(tokio::fs::File::from_std(pipe.await.unwrap()));
    let mut line = String::new();
    pipe.read_line(&mut line).await.unwrap();
    drop(keeper);
    assert_eq!(pipe.read_line(&mut line).await.unwrap(), 0);
    drop(process);
}

#[tokio::test]
async fn a_lost_keeper_is_said_and_its_process_killed() {
    let folder = tempfile::tempdir().unwrap();
    let lifeline = lifeline(folder.path());
    let (keeper, _listener) = start(Isolation::None).await;
    let script = format!("exec sleep 1000 3>{}", lifeline.display());
    let opened = lifeline.clone();
    let pipe = tokio::task::spawn_blocking(move || std::fs::File::open(opened).unwrap());
    let mut process = keeper.launch(shell(&script)).await.unwrap();
    let mut pipe = tokio::fs::File::from_std(pipe.await.unwrap());
    kill(Pid::from_raw(parent(process.pid)), Signal::SIGKILL).unwrap();
    assert!(matches!(process.exit.wait().await, Err(SandboxError::KeeperLost)));
    assert_eq!(pipe.read(&mut [0]).await.unwrap(), 0);
    assert!(matches!(keeper.launch(shell("true")).await, Err(SandboxError::KeeperLost)));
    assert!(matches!(keeper.sweep().await, Err(SandboxError::KeeperLost)));
    assert!(matches!(keeper.end().await, Err(SandboxError::KeeperLost)));
}

#[tokio::test]
async fn an_executable_that_is_no_keeper_is_said() {
    for (executable, expected) in
        [("/bin/true", "ended before"), ("/nowhere/conform", "/nowhere/conform")]
    {
        let options = KeeperOptions {
            isolation: Isolation::None,
            executable: Some(executable.into()),
            files: None,
        };
        let error = Keeper::start(options).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn by_hand_the_keeper_explains_itself() {
    for arguments in [vec!["keeper"], vec!["keeper", "no-network"]] {
        assert_cmd::Command::new(conform())
            .args(arguments)
            .assert()
            .code(3)
            .stderr(predicates::str::contains("use `conform run`"));
    }
}

#[tokio::test]
async fn standard_input_arrives() {
    let (keeper, _listener) = start(Isolation::None).await;
    let mut cat = command(Path::new("/bin/cat"), &[]);
    cat.stdin = Stdin::Piped;
    let mut process = keeper.launch(cat).await.unwrap();
    let mut stdin = process.stdin.take().unwrap();
    stdin.write_all(b"echo").await.unwrap();
    drop(stdin);
    let mut output = String::new();
    process.stdout.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "echo");
    assert_eq!(run(&keeper, command(Path::new("/bin/cat"), &[])).await.0, "");
    keeper.end().await.unwrap();
}
