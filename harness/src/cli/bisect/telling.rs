//! What is said as the search goes on, and at its end.

use conform::bisect::{Change, Span};
use conform_reports::render::{Styles, case_block, one_line};
use semver::Version;

use super::args::BisectArgs;
use super::trial::{Bench, Judged, Trial};
use crate::cli::page::{Page, counted, print};

/// Tells what is going on, version by version.
pub(super) struct Telling {
    /// Columns of a version.
    width: usize,
}

impl Telling {
    /// Says what will be searched.
    pub(super) fn begin(bench: &Bench, span: &Span) -> anyhow::Result<Self> {
        print(&format!(
            "{} on {}: {} (good) to {} (bad), {} between; isolation: {}\nrecords: \
             {}\n",
            bench.case.id,
            bench.profile.base().name,
            span.good,
            span.bad,
            counted(span.between.len(), "version"),
            bench.prepared.isolation,
            bench.folder.display()
        ))?;
        let all = span.between.iter().chain([&span.good, &span.bad]);
        let width = all.map(|version| version.to_string().len()).max().unwrap_or(0);
        Ok(Self { width })
    }

    /// Says what a version came to.
    pub(super) fn trial(&self, version: &Version, trial: &Trial) -> anyhow::Result<()> {
        let came_to = match trial {
            Trial::Judged(judged) => judged.judgement.to_string(),
            Trial::NoVerdict(why) => format!("no verdict: {}", one_line(why)),
            Trial::Interrupted => return Ok(()),
        };
        let version = version.to_string();
        print(&format!("  {version:width$}  {came_to}\n", width = self.width))
    }
}

/// Says where the change is: both findings, and how to see more.
pub(super) fn found(
    args: &BisectArgs,
    bench: &Bench,
    before: &Judged,
    after: &Judged,
    change: &Change<Version>,
) -> anyhow::Result<()> {
    let Change { last_same, first_different, .. } = change;
    let mut page = Page::default();
    page.line(format_args!(
        "\n{first_different} is the first version that differs; {last_same} is the last before it"
    ));
    for (version, judged) in [(last_same, before), (first_different, after)] {
        page.line(format_args!("\n{}@{version}: {}", bench.profile.base().name, judged.judgement));
        // Its colours are left out where the output bears none.
        for line in case_block(&judged.record, &Styles::coloured()).iter().flat_map(|b| b.lines()) {
            page.line(format_args!("  {line}").to_string().trim_end());
        }
    }
    see_more(&mut page, args, bench, change);
    page.print()
}

/// Says between which versions the change is, where it cannot be pinned down.
pub(super) fn narrowed(
    args: &BisectArgs,
    bench: &Bench,
    change: &Change<Version>,
) -> anyhow::Result<()> {
    let Change { last_same, skipped, first_different } = change;
    let mut page = Page::default();
    page.line(format_args!(
        "\ncannot say which version is the first that differs: it comes after {last_same}, and is \
         {first_different} at the latest; no verdict on {}",
        listed(skipped)
    ));
    see_more(&mut page, args, bench, change);
    page.print()
}

/// Says how far the search came.
pub(super) fn interrupted(change: &Change<Version>) -> anyhow::Result<()> {
    let Change { last_same, first_different, .. } = change;
    print(&format!(
        "\ninterrupted: the first version that differs comes after {last_same}, and is \
         {first_different} at the latest\n"
    ))
}

fn see_more(page: &mut Page, args: &BisectArgs, bench: &Bench, change: &Change<Version>) {
    let versions = [&change.last_same, &change.first_different];
    page.line("\nto see more:");
    page.line(format_args!("  {}", command(args, bench, versions)));
    for version in versions {
        page.line(format_args!("  record of {version}: {}", bench.record(version).display()));
    }
}

/// The command line that runs the case on these versions again.
fn command(args: &BisectArgs, bench: &Bench, versions: [&Version; 2]) -> String {
    let BisectArgs { scenarios, matrices, conditions, .. } = args;
    let mut words = vec!["conform run".to_owned()];
    words.extend(scenarios.iter().map(|path| path.display().to_string()));
    words.push(format!("--filter {}", bench.case.id));
    words.extend(matrices.iter().map(|path| format!("--matrices {}", path.display())));
    words
        .extend(versions.map(|version| format!("--agent {}@{version}", bench.profile.base().name)));
    words.extend(conditions.profiles.iter().map(|path| format!("--profiles {}", path.display())));
    words.extend(conditions.wire.map(|wire| format!("--wire {wire}")));
    words.push("--no-baseline --keep".to_owned());
    words.join(" ")
}

fn listed(versions: &[Version]) -> String {
    versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
