//! Interrupts in the middle of a run: finished cases are kept, and nothing is left running.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Place, RUN_MINE, stderr};

/// A run of three cases that stands in the second one.
struct Standing {
    place: Place,
    conform: Child,
    /// What the agent, which holds the other end, still writes.
    leash: BufReader<File>,
    agent: Pid,
    keeper: Pid,
}

impl Standing {
    fn new() -> Self {
        let place = Place::new();
        let pipe = place.path("leash");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        place.scenario("stand", "Stand.", "");
        place.scenario("then", "Say hello.", "");
        place.agent(&format!(
            "case $1 in Stand.)\n\
             exec 9>{}\necho $$ $PPID >&9\nsleep 60\necho outlived >&9 ;;\nesac\n\
             ask look\necho Hello.\n",
            pipe.display()
        ));
        let conform = place
            .command(&RUN_MINE)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut leash = BufReader::new(File::open(pipe).unwrap());
        let mut line = String::new();
        leash.read_line(&mut line).unwrap();
        let mut pids = line.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap()));
        let (agent, keeper) = (pids.next().unwrap(), pids.next().unwrap());
        Self { place, conform, leash, agent, keeper }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.conform.id().try_into().unwrap()), signal).unwrap();
    }

    /// Waits until every process of the agent is gone; says what it wrote meanwhile.
    fn agent_is_gone(&mut self) -> String {
        let mut rest = String::new();
        self.leash.read_to_string(&mut rest).unwrap();
        rest
    }
}

fn is_gone(pid: Pid) -> bool {
    kill(pid, None) == Err(Errno::ESRCH)
}

fn interrupted_by(signal: Signal) {
    let mut run = Standing::new();
    run.signal(signal);
    let status = run.conform.wait().unwrap();
    // At once: when the run is over, its processes are.
    assert!(is_gone(run.agent), "the agent outlived the run");
    assert!(is_gone(run.keeper), "the keeper outlived the run");
    assert_eq!(run.agent_is_gone(), "");
    assert_eq!(status.code(), Some(130));
    let mut said = String::new();
    run.conform.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(
        said.lines().last(),
        Some("interrupted (exit status 130): 2 selected cases have no verdict"),
        "{said}"
    );
    let record = run.place.record();
    let cases: Vec<_> = record.cases.iter().map(|case| case.case.as_str()).collect();
    assert_eq!(cases, ["greeting.hello"]);
    assert!(record.finished.is_some_and(|end| end.interrupted));
    let cases = run.place.path("cache/cases");
    assert_eq!(std::fs::read_dir(cases).unwrap().count(), 0, "case folders are left");
}

#[test]
fn an_interrupt_ends_the_run_and_keeps_what_is_finished() {
    interrupted_by(Signal::SIGINT);
}

#[test]
fn a_request_to_terminate_does_the_same() {
    interrupted_by(Signal::SIGTERM);
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let mut run = Standing::new();
    // A keeper that stands still keeps the run from its end.
    kill(run.keeper, Signal::SIGSTOP).unwrap();
    run.signal(Signal::SIGINT);
    let mut said = BufReader::new(run.conform.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "interrupted: ending what runs; once more ends at once\n");
    assert!(run.conform.try_wait().unwrap().is_none(), "it did not wait for the keeper");
    run.signal(Signal::SIGINT);
    assert_eq!(run.conform.wait().unwrap().code(), Some(130));
    kill(run.keeper, Signal::SIGCONT).unwrap();
    assert_eq!(run.agent_is_gone(), "");
    let record = run.place.record();
    assert_eq!((record.cases.len(), record.finished), (1, None));
}

#[test]
fn a_model_server_that_is_told_to_end_sums_up() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let place = Place::new();
        place.write("script.yaml", "turns: [{say: Hello}]");
        let mut server = place
            .command(&["serve", "script.yaml"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert!(ready.starts_with("{\"ready\":true,"), "{ready}");
        kill(Pid::from_raw(server.id().try_into().unwrap()), signal).unwrap();
        let output = server.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        let sum = "session default: 0 requests, 0 answered by the script, 1 turn unused";
        assert!(said.starts_with(sum), "{said}");
    }
}

#[test]
fn a_recorder_that_is_told_to_end_leaves_a_script() {
    let place = Place::new();
    let mut recorder = place
        .command(&["record", "--upstream", "http://127.0.0.1:1/v1", "--out", "out.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(recorder.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.starts_with("{\"ready\":true,"), "{ready}");
    kill(Pid::from_raw(recorder.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let output = recorder.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "0 turns recorded in out.yaml\n");
    // What was recorded is served, but not to everyone.
    let open = place.command(&["serve", "out.yaml", "--listen", "0.0.0.0"]).output().unwrap();
    assert_eq!(open.status.code(), Some(2));
    assert!(stderr(&open).contains("can be reached from other machines"), "{}", stderr(&open));
    // A recording is not replaced unasked.
    let again = ["record", "--upstream", "http://127.0.0.1:1", "--out", "out.yaml"];
    let again = place.command(&again).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("exists already"), "{}", stderr(&again));
}

#[test]
fn a_kill_of_conform_takes_the_agent_along() {
    let mut run = Standing::new();
    run.signal(Signal::SIGKILL);
    run.conform.wait().unwrap();
    assert_eq!(run.agent_is_gone(), "");
    // The keeper holds standard error; its end is the keeper's.
    run.conform.stderr.take().unwrap().read_to_string(&mut String::new()).unwrap();
    let record = run.place.record();
    assert_eq!((record.cases.len(), record.finished), (1, None));
}
