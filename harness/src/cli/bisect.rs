//! `conform bisect`.

mod args;
mod pick;
mod telling;
mod trial;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use conform::agent::install::{InstallError, Published, Store};
use conform::agent::profile::ProfileFile;
use conform::bisect::{Answer, Change, Search, Span, Step};
use semver::Version;

pub(crate) use args::BisectArgs;
use pick::pick;
use telling::Telling;
use trial::{Bench, Judged, Trial};

use super::run::{record_folder, watch_interrupts};
use super::{Status, say_error};

pub(crate) fn main(args: &BisectArgs) -> anyhow::Result<Status> {
    let Some(suite) = args.selection().load()? else { return Ok(Status::BadInput) };
    let case = pick(suite, &args.case)?;
    let profile = args.conditions.registry().profile(&args.agent)?;
    for end in [&args.good, &args.bad] {
        args.conditions.check_wire(profile.at(Some(&end.to_string())))?;
    }
    let store = Store::open(conform::cache::folder()?);
    let published = match store.published(profile.base()) {
        Ok(published) => published,
        Err(error @ (InstallError::NotPublished { .. } | InstallError::NoSuchPackage { .. })) => {
            return Err(error.into());
        }
        Err(error) => {
            say_error(&error.into());
            return Ok(Status::Errors);
        }
    };
    let span = span(args, &store, &profile, published)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let interrupted = watch_interrupts()?;
        let Some(prepared) = args.conditions.prepare().await? else { return Ok(Status::Errors) };
        let folder = new_folder(args.record.as_deref())?;
        let wire = args.conditions.wire;
        let bench = Bench { store, profile, case, wire, prepared, folder, interrupted };
        // From here on, input is no reason to fail any more.
        bisect(args, &bench, span).await.or_else(|error| {
            say_error(&error);
            Ok(Status::Errors)
        })
    })
}

/// The ends and what was published between them. An end that is installed need not be published
/// any more.
fn span(
    args: &BisectArgs,
    store: &Store,
    profile: &ProfileFile,
    published: Published,
) -> anyhow::Result<Span> {
    let Published { mut versions, others } = published;
    if !others.is_empty() {
        anstream::eprintln!(
            "note: left out, because they are not named like 1.2.3: {}",
            others.join(", ")
        );
    }
    for end in [&args.good, &args.bad] {
        let text = end.to_string();
        if let Ok(Some(_)) = store.installed(profile.at(Some(&text)), Some(&text)) {
            versions.push(end.clone());
        }
    }
    let span = Span::new(&versions, args.good.clone(), args.bad.clone());
    span.with_context(|| format!("cannot go through the versions of {}", profile.base().name))
}

/// A folder with nothing in it, so that no record is in another's way.
fn new_folder(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = record_folder(asked)?;
    let hint = || {
        format!("cannot put records in {}; name a folder that can be written to", folder.display())
    };
    std::fs::create_dir_all(&folder).with_context(hint)?;
    if std::fs::read_dir(&folder).with_context(hint)?.next().is_some() {
        anyhow::bail!("{} holds something already; name a new folder", folder.display());
    }
    Ok(folder)
}

/// Runs the case at the ends, then between them.
async fn bisect(args: &BisectArgs, bench: &Bench, span: Span) -> anyhow::Result<Status> {
    let telling = Telling::begin(bench, &span)?;
    let Some(good) = end(bench, &telling, &span.good).await? else {
        return Ok(Status::Interrupted);
    };
    let Some(bad) = end(bench, &telling, &span.bad).await? else {
        return Ok(Status::Interrupted);
    };
    let wanted = good.judgement.clone();
    if bad.judgement == wanted {
        anyhow::bail!(
            "{} and {} do not differ, both come to `{wanted}`; name two versions whose verdicts \
             differ",
            span.good,
            span.bad
        );
    }
    // The verdicts on the two versions that the search is between.
    let (mut before, mut after) = (good, bad);
    let mut search = Search::new(span.good, span.between, span.bad);
    let change = loop {
        let question = match search.step() {
            Step::Try(question) => question,
            Step::Done(change) => break change,
        };
        let trial = bench.attempt(question.version()).await?;
        telling.trial(question.version(), &trial)?;
        search = match trial {
            Trial::Judged(found) if found.judgement == wanted => {
                before = found;
                question.tell(Answer::Same)
            }
            Trial::Judged(found) => {
                after = found;
                question.tell(Answer::Different)
            }
            Trial::NoVerdict(_) => question.tell(Answer::Skip),
            Trial::Interrupted => {
                telling::interrupted(&Change::from(question.tell(Answer::Skip)))?;
                return Ok(Status::Interrupted);
            }
        };
    };
    if change.skipped.is_empty() {
        telling::found(args, bench, &before, &after, &change)?;
        Ok(Status::Success)
    } else {
        telling::narrowed(args, bench, &change)?;
        Ok(Status::Errors)
    }
}

/// The verdict at an end; `None`: interrupted.
async fn end(
    bench: &Bench,
    telling: &Telling,
    version: &Version,
) -> anyhow::Result<Option<Box<Judged>>> {
    let trial = bench.attempt(version).await?;
    telling.trial(version, &trial)?;
    match trial {
        Trial::Judged(judged) => Ok(Some(judged)),
        Trial::Interrupted => Ok(None),
        Trial::NoVerdict(why) => anyhow::bail!(
            "{version} has no verdict that the others could be held against: {why}; mend that, or \
             name another version"
        ),
    }
}
