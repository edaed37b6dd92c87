//! `conform run`.

mod args;
mod outputs;
mod subjects;

use std::io::{Stdout, Write as _};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use conform::agent::registry::Registry;
use conform::case::Case;
use conform::run::{Baseline, Finished, Kept, Options, Subject};
use conform::sandbox::{Isolation, IsolationOutcome, probe};
use conform::stand_in::path_with_stand_in;
use conform_reports::console::{Console, ConsoleOptions, When};
use conform_reports::gate::{Gate, Outcome};
use conform_reports::junit;
use conform_reports::record::{
    CaseRecord, Header, RecordError, SCHEMA, Severity, VariantName, Verdict, Writer, now,
};
use tokio::sync::watch;

pub(crate) use args::RunArgs;
use args::{GateArg, IsolationArg};
use outputs::Outputs;
use subjects::subjects;

use super::Status;
use super::list::NOTHING_SELECTED;
use super::signals::signals;

pub(crate) fn main(args: &RunArgs) -> anyhow::Result<Status> {
    let Some(suite) = args.selection.load()? else { return Ok(Status::BadInput) };
    let registry = Registry::new(args.profiles.clone());
    let (subjects, baselines) = subjects(args, &registry)?;
    if suite.cases.is_empty() {
        anstream::eprintln!("{NOTHING_SELECTED}");
        return Ok(Status::NothingSelected);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let interrupted = watch_interrupts()?;
        let Some((options, isolation)) = options(args).await? else { return Ok(Status::Errors) };
        let cases = suite.cases;
        let plan = Plan { subjects, baselines, options, cases };
        let header = header(args, &plan, isolation);
        let outputs = Outputs::open(args, &header)?;
        // From here on, input is no reason to fail any more.
        execute(args, plan, &header, outputs, interrupted).await.or_else(|error| {
            super::say_error(&error);
            Ok(Status::Errors)
        })
    })
}

/// A run that is about to begin.
struct Plan {
    subjects: Vec<Arc<Subject>>,
    baselines: Vec<Baseline>,
    options: Options,
    cases: Vec<Case>,
}

async fn execute(
    args: &RunArgs,
    mut plan: Plan,
    header: &Header,
    outputs: Outputs,
    interrupted: watch::Receiver<bool>,
) -> anyhow::Result<Status> {
    let Outputs { folder, mut writer, junit } = outputs;
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
    // Each told once, at the end: neither a full disk nor a closed pipe ends the run.
    let mut unwritten = None;
    let mut unshown = console.started(header).err();
    let mut records: Vec<CaseRecord> = Vec::new();
    let report = |finished: Finished| {
        let (record, kept, problem) = write(&mut writer, finished, args.keep);
        unwritten = unwritten.take().or(problem);
        if unshown.is_none() {
            unshown = show(&mut console, &record, &kept).err();
        }
        records.push(record);
    };
    let Plan { subjects, cases, options, ref mut baselines } = plan;
    let end = conform::run::run(&subjects, cases, options, baselines, interrupted, report).await?;
    unwritten = unwritten.or(writer.finish(&end).err());
    if unshown.is_none() {
        unshown = console.finished(&end).err();
    }
    let unreported = junit.and_then(|mut file| {
        junit::write(&records, header, &end, gate, &mut file)
            .map_err(anyhow::Error::from)
            .and_then(|()| Ok(file.flush()?))
            .err()
    });
    let troubles = [
        unwritten.map(|error| anyhow::Error::from(error).context("the record is not complete")),
        unshown.map(|error| {
            anyhow::Error::from(error).context(
                "the report could not be written to standard output, but the record holds it all",
            )
        }),
        unreported.map(|error| error.context("the JUnit report is not complete")),
    ];
    troubles.iter().flatten().for_each(super::say_error);
    let is_told = troubles.iter().all(Option::is_none);
    Ok(match gate.decide(header.cases, &end) {
        Outcome::Fails => Status::GateFails,
        Outcome::Interrupted => Status::Interrupted,
        Outcome::Holds if is_told => Status::Success,
        Outcome::NothingSelected | Outcome::NothingJudged if is_told => Status::NothingSelected,
        Outcome::Holds | Outcome::NothingSelected | Outcome::NothingJudged | Outcome::Errors => {
            Status::Errors
        }
    })
}

/// Writes one finished case to the record; request bodies where they are worth reading again.
/// What could not be written comes back beside it.
fn write(
    writer: &mut Writer,
    finished: Finished,
    keep_bodies: bool,
) -> (CaseRecord, Vec<Kept>, Option<RecordError>) {
    let Finished { mut record, bodies, kept } = finished;
    let is_plain = matches!(record.verdict, Verdict::Pass | Verdict::Skip { .. });
    let mut problem = None;
    if keep_bodies || !is_plain {
        for body in bodies {
            match writer.body(&record.agent, &record.case, body.variant, body.number, &body.json) {
                Ok(path) => attach(&mut record, body.variant, body.number, path),
                Err(error) => problem = Some(error),
            }
        }
    }
    let problem = writer.case(&record).err().or(problem);
    (record, kept, problem)
}

/// Shows one finished case, and where its folders are if they were kept.
fn show(console: &mut Console<Stdout>, record: &CaseRecord, kept: &[Kept]) -> std::io::Result<()> {
    console.case(record)?;
    for Kept { variant, folder } in kept {
        let place = format!("{variant} run of {} is kept in {}", record.case, folder.display());
        console.note(&place)?;
    }
    Ok(())
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
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let options = Options {
        jobs: args.jobs.map_or(processors, NonZero::get),
        time_limit: Duration::from_secs(u64::try_from(args.time_limit.get())?),
        isolation,
        case_parent: conform::cache::case_parent()?,
        keep: args.keep,
        path_with_stand_in: path_with_stand_in(
            &conform::cache::folder()?.join("stand-in"),
            &keeper,
        )
        .context("cannot link the stand-in for curl in the cache folder")?,
        keeper,
        repeat: args.repeat.get(),
        filtered: !args.selection.filter.is_empty(),
    };
    Ok(Some((options, description)))
}

fn header(args: &RunArgs, plan: &Plan, isolation: String) -> Header {
    Header {
        schema: SCHEMA,
        conform: env!("CARGO_PKG_VERSION").to_owned(),
        started: now(),
        agents: plan
            .subjects
            .iter()
            .map(|subject| subject.reference(subject.profile.drivers.first()))
            .collect(),
        selection: args.selection.paths.iter().map(|path| path.display().to_string()).collect(),
        cases: plan.cases.len() * plan.subjects.len(),
        isolation,
        jobs: plan.options.jobs,
    }
}

/// Turns true at the first interrupt or termination signal. The second one ends the process at
/// once; the keepers end what it leaves running.
fn watch_interrupts() -> anyhow::Result<watch::Receiver<bool>> {
    let mut signals = signals()?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        signals.recv().await;
        sender.send_replace(true);
        anstream::eprintln!("interrupted: ending what runs; once more ends at once");
        signals.recv().await;
        std::process::exit(i32::from(Status::Interrupted.code()));
    });
    Ok(receiver)
}
