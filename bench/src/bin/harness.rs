//! `conform run` beside a bare parallel loop of the same agent against the same mock.
//!
//! Both take the same cases, two at a time by default. The loop does what cannot be left out: the
//! case's files, the agent's configuration, a mock with the case's script, the process, its output.
//! The harness adds confinement, both snapshots of the tree, the judgement and the record.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use conform::agent::install::{Installed, Store};
use conform::agent::launch::Start;
use conform::agent::lower;
use conform::agent::profile::Profile;
use conform::agent::registry::Registry;
use conform::case::{Case, CaseStep, Places};
use conform::driver::Argument;
use conform::scenario::Zone;
use conform::suite::{Filter, Suite};
use conform_mock_server::server::MockServer;
use tokio::process::Command;
use tokio::sync::Mutex;

/// Rounds that count, after one that does not.
const ROUNDS: usize = 7;
/// The harness may take this much of the bare loop's time.
const BAR: f64 = 1.10;
/// Cases without an attempt: one run each, none with a control.
const FILTER: &str = "injection.matrix.*.careful.*";

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let conform =
        arguments.next().context("usage: harness CONFORM-BINARY [AGENT] [JOBS] [ISOLATION]")?;
    let conform = std::fs::canonicalize(&conform).context(conform)?.display().to_string();
    let agent = arguments.next().unwrap_or_else(|| "codex".to_owned());
    let jobs: usize = arguments.next().map_or(Ok(2), |jobs| jobs.parse())?;
    let isolation = arguments.next().unwrap_or_else(|| "auto".to_owned());
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");

    let mut suite = Suite::load(&[root.join("scenarios")], &[root.join("matrices")]);
    ensure!(suite.is_sound(), "the scenarios have problems; `conform check` shows them");
    suite.retain(&Filter::new(&[FILTER.to_owned()])?);
    let profile = Registry::new(None).profile(&agent)?.at(None).clone();
    let store = Store::open(conform::cache::folder()?);
    let Some(Installed { executable, .. }) = store.installed(&profile, None)? else {
        bail!("{agent} is not installed; run `conform agents install {agent}`");
    };
    // The lab agent is conform itself, not this program.
    let executable = if agent == "lab" { PathBuf::from(&conform) } else { executable };
    let bench = Arc::new(Bench { profile, executable });
    println!("{} cases of {agent}, {jobs} at once, isolation {isolation}", suite.cases.len());

    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        // Each goes first in every other round.
        let (bare, harness) = if round % 2 == 0 {
            let bare = bare(&bench, &suite.cases, jobs).await?;
            (bare, harness(&root, &conform, &agent, jobs, &isolation).await?)
        } else {
            let harness = harness(&root, &conform, &agent, jobs, &isolation).await?;
            (bare(&bench, &suite.cases, jobs).await?, harness)
        };
        if round > 0 {
            println!("bare {bare:?}  harness {harness:?}");
            rounds.push((bare.as_secs_f64(), harness.as_secs_f64()));
        }
    }
    let ratio = median(rounds.iter().map(|(bare, harness)| harness / bare));
    let lowest = rounds.iter().map(|(bare, harness)| harness / bare).fold(f64::INFINITY, f64::min);
    let highest = rounds.iter().map(|(bare, harness)| harness / bare).fold(0.0, f64::max);
    println!("ratio {ratio:.2} ({lowest:.2} - {highest:.2}); the bar is {BAR:.2}");
    let rate = suite.cases.len() as f64 / median(rounds.iter().map(|(_, harness)| *harness));
    println!("{rate:.0} cases a second through the harness");
    if agent != "lab" && ratio > BAR {
        bail!("above the bar");
    }
    Ok(())
}

struct Bench {
    profile: Profile,
    executable: PathBuf,
}

async fn harness(
    root: &Path,
    conform: &str,
    agent: &str,
    jobs: usize,
    isolation: &str,
) -> Result<Duration> {
    let record = tempfile::tempdir()?;
    let begin = Instant::now();
    let output = Command::new(conform)
        .current_dir(root)
        .args(["run", "scenarios", "--filter", FILTER, "--agent", agent, "--jobs"])
        .arg(jobs.to_string())
        .args(["--isolation", isolation])
        .arg("--record")
        .arg(record.path().join("run"))
        .output()
        .await?;
    let took = begin.elapsed();
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the harness ended with {}:\n{text}", output.status);
    Ok(took)
}

async fn bare(bench: &Arc<Bench>, cases: &[Case], jobs: usize) -> Result<Duration> {
    let work: Arc<Mutex<Vec<Case>>> = Arc::new(Mutex::new(cases.iter().rev().cloned().collect()));
    let begin = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..jobs {
        let (bench, work) = (Arc::clone(bench), Arc::clone(&work));
        workers.spawn(async move {
            loop {
                let Some(case) = work.lock().await.pop() else { return Ok(()) };
                one(&bench, &case).await.with_context(|| case.id.clone())?;
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        let ended: Result<()> = ended?;
        ended?;
    }
    Ok(begin.elapsed())
}

/// One case without the harness.
async fn one(bench: &Bench, case: &Case) -> Result<()> {
    let folder = tempfile::Builder::new().tempdir_in(conform::cache::case_parent()?)?;
    for zone in Zone::ALL {
        std::fs::create_dir(folder.path().join(zone.name()))?;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let place = |zone: Zone| folder.path().join(zone.name());
    let places = Places {
        mock: format!("http://{}", listener.local_addr()?),
        workspace: place(Zone::Workspace),
        outside: place(Zone::Outside),
        home: place(Zone::Home),
        tmp: place(Zone::Tmp),
        rules_close: bench.profile.contract.rules_close(),
    };
    for file in &case.main.files {
        let path = folder.path().join(file.zone.name()).join(&file.path);
        std::fs::create_dir_all(path.parent().context("a folder")?)?;
        std::fs::write(path, file.text.resolve(&places))?;
    }
    let launch = bench
        .profile
        .drivers
        .iter()
        .find(|launch| launch.output.is_some())
        .context("an exec driver")?;
    let wire = *launch.wires.first().context("a wire")?;
    let start = Start {
        profile: &bench.profile,
        launch,
        wire,
        executable: &bench.executable,
        interpreter: None,
        defects: &[],
        path: "/usr/local/bin:/usr/bin:/bin",
        requires: &case.requires,
        variant: &case.main,
        places: &places,
    };
    start.write_files(folder.path())?;
    let lowered = lower::script(&case.main, &bench.profile, wire, &places)?;
    let mock = MockServer::builder(lowered.script).listener(listener).start().await?;
    let resolved = start.resolve()?;
    for step in &case.main.steps {
        let CaseStep::User { text: prompt, .. } = step else { bail!("a plain prompt") };
        let prompt = prompt.resolve(&places);
        let output = Command::new(&resolved.program)
            .args(resolved.arguments.iter().map(|argument| match argument {
                Argument::Fixed(text) => text.clone(),
                Argument::Prompt => prompt.clone(),
            }))
            .env_clear()
            .envs(&resolved.environment)
            .current_dir(&resolved.directory)
            .stdin(Stdio::null())
            .output()
            .await?;
        ensure!(output.status.success(), "the agent ended with {}", output.status);
    }
    ensure!(mock.verify().is_ok(), "the script was not followed");
    mock.shutdown().await;
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
