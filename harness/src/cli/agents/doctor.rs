//! `conform agents doctor`.

use std::num::NonZero;

use clap::Args;
use conform::agent::install::{Installed, Store};
use conform::agent::profile::Install;
use conform::agent::registry::Registry;
use conform::doctor::{Answer, Examination, LaunchExamination, Question, TextFound, examine};
use conform::run::{Options, Subject, SubjectName};
use tokio::sync::watch;

use crate::cli::page::{Page, print};
use crate::cli::run::{Bounds, Prepared, subject, watch_interrupts};
use crate::cli::{Status, say_error};

/// Whom to examine.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The agents, such as codex or codex@0.171.0; `all` stands for every one that is installed
    #[arg(required = true, value_name = "NAME[@VERSION]")]
    agents: Vec<SubjectName>,
    /// Print what was found as one line of JSON for each agent
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    bounds: Bounds,
}

pub(crate) fn main(
    registry: &Registry,
    store: &Store,
    args: &DoctorArgs,
) -> anyhow::Result<Status> {
    let subjects = subjects(registry, store, &args.agents)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let interrupted = watch_interrupts()?;
        let Some(prepared) = args.bounds.prepare().await? else { return Ok(Status::Errors) };
        let mut status = Status::Success;
        for subject in subjects {
            let subject = match subject {
                Ok(subject) => subject,
                Err(why) => {
                    anstream::eprintln!("error: {why}");
                    status = Status::Errors;
                    continue;
                }
            };
            match one(&subject, &prepared, &interrupted).await {
                Ok(None) => return Ok(Status::Interrupted),
                Ok(Some(found)) => {
                    if !found.all_works() {
                        status = Status::Errors;
                    }
                    show(&found, args.json)?;
                }
                Err(error) => {
                    say_error(&error);
                    status = Status::Errors;
                }
            }
        }
        Ok(status)
    })
}

/// The agents meant, and why one of them cannot be examined. `all` are those that are here.
fn subjects(
    registry: &Registry,
    store: &Store,
    names: &[SubjectName],
) -> anyhow::Result<Vec<Result<Subject, String>>> {
    let mut found = Vec::new();
    for name in names {
        if name.agent == "all" && name.version.is_none() {
            for agent in registry.names()? {
                let profile = registry.profile(&agent)?.at(None).clone();
                if let Ok(Some(installed)) = store.installed(&profile, None) {
                    found.push(sound(installed).map(|installed| subject(profile, installed)));
                }
            }
            continue;
        }
        let profile = registry.profile(&name.agent)?.at(name.version.as_deref()).clone();
        found.push(match store.installed(&profile, name.version.as_deref()) {
            Ok(Some(installed)) => sound(installed).map(|installed| subject(profile, installed)),
            Ok(None) => Err(missing(&profile.install, name)),
            Err(problem) => Err(format!("{name}: {problem}")),
        });
    }
    Ok(found)
}

/// The installed program, if it is still what was installed.
fn sound(installed: Installed) -> Result<Installed, String> {
    installed.verify().map_err(|problem| problem.to_string())?;
    Ok(installed)
}

fn missing(install: &Install, name: &SubjectName) -> String {
    match install {
        Install::Path { executable } => {
            format!("{name} is not on this machine: there is no `{executable}`")
        }
        Install::BuiltIn | Install::Npm { .. } | Install::Pip { .. } => {
            format!("{name} is not installed; run `conform agents install {name}`")
        }
    }
}

async fn one(
    subject: &Subject,
    prepared: &Prepared,
    interrupted: &watch::Receiver<bool>,
) -> anyhow::Result<Option<Examination>> {
    let name = format!("{}@{}", subject.profile.name, subject.version);
    let progress = |launch: &conform::agent::profile::Launch, wire| {
        anstream::eprintln!("{name}: driver {} over {wire} ...", launch.driver.name());
    };
    let Prepared { options, isolation } = prepared;
    let jobs = std::thread::available_parallelism().map_or(1, NonZero::get);
    let options = Options { jobs, ..options.clone() };
    Ok(examine(subject, &options, isolation, interrupted, progress).await?)
}

fn show(found: &Examination, json: bool) -> anyhow::Result<()> {
    if json {
        return print(&format!("{}\n", serde_json::to_string(found)?));
    }
    let mut page = Page::default();
    page.line(format_args!("{}@{}", found.agent, found.version));
    match &found.interpreter {
        Some(interpreter) => {
            page.line(format_args!("  program: {}, run by {interpreter}", found.executable));
        }
        None => page.line(format_args!("  program: {}", found.executable)),
    }
    page.line(format_args!("  isolation: {}", found.isolation));
    page.line(format_args!("  policies: {}", found.policies.join(", ")));
    for launch in &found.launches {
        page.line(format_args!("  driver {} over {}", launch.driver, launch.wire));
        for (question, answer) in &launch.answers {
            let about = about(*question, answer, launch);
            page.line(format_args!("    {:<16}  {about}", question.to_string()));
            if let Answer::Fails { help, .. } = answer {
                page.line(format_args!("    {:<16}  help: {help}", ""));
            }
        }
        page.line(format_args!("    tools offered     {}", listed(&launch.offered)));
        let unused = launch.unused();
        if !unused.is_empty() {
            page.line(format_args!("    not in [tools]    {}", listed(&unused)));
        }
        if !launch.side_requests.is_empty() {
            let each: Vec<String> = launch
                .side_requests
                .iter()
                .map(|(purpose, count)| format!("{purpose} ({count})"))
                .collect();
            page.line(format_args!("    side requests     {}", each.join(", ")));
        }
        page.line(format_args!("    declared          {}", listed(&launch.declared)));
    }
    page.print()
}

/// What a question came to, in a line.
fn about(question: Question, answer: &Answer, launch: &LaunchExamination) -> String {
    match answer {
        Answer::NotAsked { why } => format!("not asked: {why}"),
        Answer::Fails { kind, message, .. } => format!("error: {kind}: {message}"),
        Answer::Works => match question {
            Question::Plain => "works".to_owned(),
            Question::Tool(tool) => {
                let native = launch.lowered.iter().find(|(name, _)| name == tool);
                native.map_or("works".to_owned(), |(_, native)| format!("works ({native})"))
            }
            Question::Rules => standing(launch.rules.as_ref()),
            Question::Memory => standing(launch.memory.as_ref()),
        },
    }
}

fn standing(found: Option<&TextFound>) -> String {
    let Some(TextFound { authority, frame }) = found else { return "works".to_owned() };
    let frame = match frame.as_slice() {
        [] => "in no frame".to_owned(),
        frame => format!("in {}", innermost_first(frame)),
    };
    format!("works (at {authority}, {frame})")
}

/// Frames as one says them: this in that.
fn innermost_first(frame: &[String]) -> String {
    frame.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" in ")
}

fn listed(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}
