//! `conform run`.

mod args;
mod conditions;
mod interrupts;
mod outputs;
mod require;
mod subjects;
mod written;

use std::io::{Stdout, Write as _};
use std::num::NonZero;

use conform::case::Case;
use conform::run::{Finished, Kept, Options};
use conform_reports::console::{Console, ConsoleOptions, When};
use conform_reports::gate::{Gate, Outcome};
use conform_reports::junit;
use conform_reports::record::{CaseRecord, Header, RunFinished, SCHEMA, Severity, Verdict, now};
use tokio::sync::watch;

use args::GateArg;
pub(crate) use args::RunArgs;
pub(crate) use conditions::{Bounds, Conditions, Prepared};
pub(crate) use interrupts::watch_interrupts;
use outputs::Outputs;
pub(crate) use outputs::record_folder;
pub(crate) use subjects::subject;
use subjects::{Subjects, subjects};
pub(crate) use written::write;

use super::Status;
use super::list::NOTHING_SELECTED;

pub(crate) fn main(args: &RunArgs) -> anyhow::Result<Status> {
    let Some(suite) = args.selection.load()? else { return Ok(Status::BadInput) };
    let subjects = subjects(args, &args.conditions.registry())?;
    if suite.cases.is_empty() {
        anstream::eprintln!("{NOTHING_SELECTED}");
        return Ok(Status::NothingSelected);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let interrupted = watch_interrupts()?;
        let Some(prepared) = args.conditions.prepare().await? else { return Ok(Status::Errors) };
        let Prepared { options, isolation } = prepared;
        let plan = Plan { subjects, options: asked(args, options), cases: suite.cases };
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
    subjects: Subjects,
    options: Options,
    cases: Vec<Case>,
}

async fn execute(
    args: &RunArgs,
    plan: Plan,
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
        let (record, kept, problem) = write(&mut writer, finished, |record| {
            args.keep || !matches!(record.verdict, Verdict::Pass | Verdict::Skip { .. })
        });
        unwritten = unwritten.take().or(problem);
        if unshown.is_none() {
            unshown = show(&mut console, &record, &kept).err();
        }
        records.push(record);
    };
    let Plan { subjects: Subjects { here, mut baselines, missing }, cases, options } = plan;
    let end = conform::run::run(&here, cases, options, &mut baselines, interrupted, report).await?;
    let end = RunFinished { not_run: missing, ..end };
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

/// Shows one finished case, and where its folders are if they were kept.
fn show(console: &mut Console<Stdout>, record: &CaseRecord, kept: &[Kept]) -> std::io::Result<()> {
    console.case(record)?;
    for Kept { variant, folder } in kept {
        let place = format!("{variant} run of {} is kept in {}", record.case, folder.display());
        console.note(&place)?;
    }
    Ok(())
}

/// The options, as this run asks for them.
fn asked(args: &RunArgs, options: Options) -> Options {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    Options {
        jobs: args.jobs.map_or(processors, NonZero::get),
        keep: args.keep,
        filtered: !args.selection.filter.is_empty(),
        ..options
    }
}

fn header(args: &RunArgs, plan: &Plan, isolation: String) -> Header {
    Header {
        schema: SCHEMA,
        conform: env!("CARGO_PKG_VERSION").to_owned(),
        started: now(),
        agents: plan
            .subjects
            .here
            .iter()
            .map(|subject| subject.reference(subject.profile.drivers.first()))
            .collect(),
        selection: args.selection.paths.iter().map(|path| path.display().to_string()).collect(),
        cases: plan.cases.len() * plan.subjects.here.len(),
        isolation,
        jobs: plan.options.jobs,
    }
}
