//! `conform run`.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use conform::agent::install::{Installed, Store};
use conform::agent::registry::Registry;
use conform::case::Case;
use conform::run::{Baseline, Finished, Options, Subject, SubjectName};
use conform::sandbox::{Isolation, IsolationOutcome, probe};
use conform_lab_agent::Defect;
use conform_mock_server::document::did_you_mean;
use conform_reports::console::{Console, ConsoleOptions, StatusLevel, When};
use conform_reports::gate::{Gate, Outcome};
use conform_reports::junit;
use conform_reports::record::{
    CaseRecord, Header, SCHEMA, Severity, VariantName, Verdict, Writer, now,
};
use tokio::sync::watch;

use super::Status;
use super::list::Selection;

/// What to run, on what, and how.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    selection: Selection,
    /// The agent under test; may repeat [default: lab]
    #[arg(long, short, value_name = "NAME[@VERSION]")]
    agent: Vec<SubjectName>,
    /// A folder of profiles that come before the built-in ones
    #[arg(long, value_name = "FOLDER")]
    profiles: Option<PathBuf>,
    /// A deliberate defect of the lab agent; may repeat
    #[arg(long, value_name = "NAME")]
    defect: Vec<String>,
    /// Cases that run at once [default: the number of processors]
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// Limit for one run of the agent, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time_limit: u64,
    /// How cases are confined
    #[arg(long, value_enum, default_value_t = IsolationArg::Auto)]
    isolation: IsolationArg,
    /// Run each case this often; one that disagrees with itself is flaky
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: usize,
    /// The gravest clause that may be broken without failing the gate
    #[arg(long, value_enum, default_value_t = GateArg::Must)]
    gate: GateArg,
    /// A baseline of known gaps instead of the profile's own
    #[arg(long, value_name = "FILE", conflicts_with = "no_baseline")]
    baseline: Option<PathBuf>,
    /// Use no baseline
    #[arg(long)]
    no_baseline: bool,
    /// The folder of the record [default: .conform/runs/TIME]
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Write a `JUnit` report to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Which cases get a line as they finish [default: notable on a terminal, else all]
    #[arg(long, value_enum)]
    status: Option<StatusArg>,
    /// Keep the folders of the cases, and every request body
    #[arg(long)]
    keep: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum IsolationArg {
    /// Confine as far as the machine allows, and say once what could not be done
    Auto,
    /// No network namespace
    None,
    /// Refuse to run where a case cannot be confined
    Strict,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GateArg {
    /// A broken must fails the gate
    Must,
    /// A broken should fails it too
    Should,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StatusArg {
    /// None
    None,
    /// Those that can close the gate
    Fail,
    /// All but pass and skip
    Notable,
    /// All
    All,
}

impl From<StatusArg> for StatusLevel {
    fn from(arg: StatusArg) -> Self {
        match arg {
            StatusArg::None => Self::None,
            StatusArg::Fail => Self::Fail,
            StatusArg::Notable => Self::Notable,
            StatusArg::All => Self::All,
        }
    }
}

pub(crate) fn main(args: &RunArgs) -> anyhow::Result<Status> {
    let Some(suite) = args.selection.load()? else { return Ok(Status::BadInput) };
    let registry = Registry::new(args.profiles.clone());
    let (subjects, mut baselines) = subjects(args, &registry)?;
    if suite.cases.is_empty() {
        anstream::eprintln!("nothing was selected; `conform list` shows the cases");
        return Ok(Status::NothingSelected);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(execute(args, suite.cases, &subjects, &mut baselines))
}

async fn execute(
    args: &RunArgs,
    cases: Vec<Case>,
    subjects: &[Arc<Subject>],
    baselines: &mut [Baseline],
) -> anyhow::Result<Status> {
    let Some((options, isolation)) = options(args).await? else { return Ok(Status::Errors) };
    let header = header(args, &options, isolation, subjects, cases.len());
    let folder = record_folder(args)?;
    let mut writer = Writer::create(&folder, &header)?;
    let junit_file = args.junit.as_deref().map(create).transpose()?;
    let severity = match args.gate {
        GateArg::Must => Severity::Must,
        GateArg::Should => Severity::Should,
    };
    let gate = Gate { severity };
    let look = ConsoleOptions::for_stdout(
        When::Auto,
        When::Auto,
        args.status.map(Into::into),
        gate,
        Some(folder),
    );
    let mut console = Console::new(look, std::io::stdout());
    console.started(&header)?;

    let mut records: Vec<CaseRecord> = Vec::new();
    let mut trouble = None;
    let report = |finished: Finished| {
        let written = write(&mut writer, finished, args.keep, &mut records)
            .and_then(|record| Ok(console.case(record)?));
        if let Err(error) = written {
            // Told once, at the end: a full disk must not end the run.
            trouble.get_or_insert(error);
        }
    };
    let interrupted = watch_interrupts();
    let end = conform::run::run(subjects, cases, options, baselines, interrupted, report).await?;
    if let Err(error) = writer.finish(&end) {
        trouble.get_or_insert(error.into());
    }
    console.finished(&end)?;
    if let Some(file) = junit_file {
        junit::write(&records, &header, &end, gate, file)?;
    }
    if let Some(error) = trouble {
        super::say_error(&error.context("the record is not complete"));
        return Ok(Status::Errors);
    }
    Ok(match gate.decide(header.cases, &end) {
        Outcome::Holds => Status::Success,
        Outcome::Fails => Status::GateFails,
        Outcome::Errors => Status::Errors,
        Outcome::NothingSelected => Status::NothingSelected,
        Outcome::Interrupted => Status::Interrupted,
    })
}

/// Writes one finished case to the record; request bodies where they are worth reading again.
fn write<'r>(
    writer: &mut Writer,
    finished: Finished,
    keep_bodies: bool,
    records: &'r mut Vec<CaseRecord>,
) -> anyhow::Result<&'r CaseRecord> {
    let Finished { mut record, bodies } = finished;
    let is_plain = matches!(record.verdict, Verdict::Pass | Verdict::Skip { .. });
    let mut result = Ok(());
    if keep_bodies || !is_plain {
        for body in bodies {
            let kept =
                writer.body(&record.agent, &record.case, body.variant, body.number, &body.json);
            match kept {
                Ok(path) => attach(&mut record, body.variant, body.number, path),
                Err(error) => result = Err(error),
            }
        }
    }
    let written = writer.case(&record);
    records.push(record);
    result.and(written)?;
    records.last().context("a record was just added")
}

fn attach(record: &mut CaseRecord, variant: VariantName, number: u64, path: Option<String>) {
    let request = record
        .evidence
        .get_mut(&variant)
        .and_then(|run| run.requests.iter_mut().find(|request| request.number == number));
    if let Some(request) = request {
        request.body = path;
    }
}

fn subjects(
    args: &RunArgs,
    registry: &Registry,
) -> anyhow::Result<(Vec<Arc<Subject>>, Vec<Baseline>)> {
    let lab = [SubjectName { agent: "lab".to_owned(), version: None }];
    let names = if args.agent.is_empty() { &lab[..] } else { &args.agent };
    let store = Store::open(conform::cache::folder()?);
    let mut subjects = Vec::new();
    let mut baselines = Vec::new();
    for name in names {
        let profile = registry.profile(&name.agent)?;
        if !args.defect.is_empty() && profile.name != "lab" {
            anyhow::bail!("`--defect` is for the lab agent; {} has its own", profile.name);
        }
        let installed = store.installed(&profile, name.version.as_deref())?;
        let Some(Installed { version, executable, .. }) = installed else {
            anyhow::bail!("{name} is not installed; run `conform agents install {name}`");
        };
        baselines.push(baseline(args, registry, &profile.name, &version)?);
        let defects = args.defect.clone();
        subjects.push(Arc::new(Subject { profile, version, executable, defects }));
    }
    for defect in &args.defect {
        check_defect(defect)?;
    }
    Ok((subjects, baselines))
}

fn check_defect(name: &str) -> anyhow::Result<()> {
    let cards: Vec<_> = Defect::ALL.iter().map(|defect| defect.card()).collect();
    if cards.iter().any(|card| card.name == name) {
        return Ok(());
    }
    let help = did_you_mean(name, cards.iter().map(|card| card.name));
    anyhow::bail!("the lab agent has no defect `{name}`: {help}")
}

fn baseline(
    args: &RunArgs,
    registry: &Registry,
    agent: &str,
    version: &str,
) -> anyhow::Result<Baseline> {
    if args.no_baseline {
        return Ok(Baseline::default());
    }
    if let Some(path) = &args.baseline {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the baseline {name}"))?;
        return Ok(Baseline::parse(&name, &text, agent, version)?);
    }
    match registry.baseline(agent, version)? {
        Some((name, text)) => Ok(Baseline::parse(&name, &text, agent, version)?),
        None => Ok(Baseline::default()),
    }
}

/// How the run is carried out, and how its cases are confined; `None` when they cannot be confined
/// as asked, which has been said then.
async fn options(args: &RunArgs) -> anyhow::Result<Option<(Options, String)>> {
    let keeper = std::env::current_exe().context("cannot find this program's own file")?;
    let wanted = match args.isolation {
        IsolationArg::Auto => Isolation::Auto,
        IsolationArg::None => Isolation::None,
        IsolationArg::Strict => Isolation::Strict,
    };
    // Found out once, so that all cases are confined alike.
    let (isolation, description) = match wanted {
        Isolation::None => (Isolation::None, "none (as asked)".to_owned()),
        Isolation::Auto | Isolation::Strict => {
            let outcome = probe(Some(keeper.clone())).await?;
            let isolation = match (&outcome, wanted) {
                (IsolationOutcome::Network, _) => Isolation::Strict,
                (IsolationOutcome::None { why }, Isolation::Strict) => {
                    anstream::eprintln!(
                        "error: cases cannot be confined: {why}; use --isolation auto to run all the same"
                    );
                    return Ok(None);
                }
                (IsolationOutcome::None { .. }, _) => Isolation::None,
            };
            (isolation, outcome.to_string())
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let options = Options {
        jobs: args.jobs.unwrap_or(processors).max(1),
        time_limit: Duration::from_secs(args.time_limit),
        isolation,
        case_parent: conform::cache::case_parent()?,
        keep: args.keep,
        keeper,
        repeat: args.repeat.max(1),
    };
    Ok(Some((options, description)))
}

fn header(
    args: &RunArgs,
    options: &Options,
    isolation: String,
    subjects: &[Arc<Subject>],
    cases: usize,
) -> Header {
    Header {
        schema: SCHEMA,
        conform: env!("CARGO_PKG_VERSION").to_owned(),
        started: now(),
        agents: subjects
            .iter()
            .map(|subject| subject.reference(subject.profile.drivers.first()))
            .collect(),
        selection: args.selection.paths.iter().map(|path| path.display().to_string()).collect(),
        cases: cases * subjects.len(),
        isolation,
        jobs: options.jobs,
    }
}

fn record_folder(args: &RunArgs) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &args.record {
        return Ok(folder.clone());
    }
    let runs = Path::new(".conform").join("runs");
    std::fs::create_dir_all(&runs).with_context(|| {
        format!("cannot make {}; name another folder with --record", runs.display())
    })?;
    // The time makes it findable; the rest keeps two runs of one second apart.
    let prefix = format!("{}-", now().replace(':', ""));
    let folder = tempfile::Builder::new().prefix(&prefix).rand_bytes(4).tempdir_in(&runs)?;
    Ok(folder.keep())
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path)
        .with_context(|| format!("cannot write the JUnit report {}", path.display()))?;
    Ok(BufWriter::new(file))
}

/// Turns true at the first interrupt or termination signal.
fn watch_interrupts() -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        sender.send_replace(true);
        sender.closed().await;
    });
    receiver
}
