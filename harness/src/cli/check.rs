//! `conform check`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use conform::agent::registry;
use conform::clause;
use conform::suite::Suite;
use walkdir::WalkDir;

use super::page::{Page, counted, print};
use super::{Status, say_error, say_problems};

/// What to check.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files, or folders of them [default: those of `scenarios`, `matrices` and `agents` that are
    /// there]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Also list the clauses that no case serves yet
    #[arg(long)]
    coverage: bool,
}

/// The files of a selection by what they hold.
#[derive(Debug, Default)]
struct Selected {
    scenarios: Vec<PathBuf>,
    matrices: Vec<PathBuf>,
    profiles: Vec<PathBuf>,
    baselines: Vec<PathBuf>,
}

/// Where files are looked for, when no path is named.
const FOLDERS: [&str; 3] = ["scenarios", "matrices", "agents"];

impl Selected {
    fn is_empty(&self) -> bool {
        let Self { scenarios, matrices, profiles, baselines } = self;
        [scenarios, matrices, profiles, baselines].into_iter().all(Vec::is_empty)
    }
}

pub(crate) fn main(args: CheckArgs) -> anyhow::Result<Status> {
    let paths = if args.paths.is_empty() {
        FOLDERS.map(PathBuf::from).into_iter().filter(|folder| folder.is_dir()).collect()
    } else {
        args.paths
    };
    let selected = sort(&paths)?;
    if selected.is_empty() {
        anyhow::bail!("{}", nothing_to_check(&paths));
    }
    let mut errors = 0;
    for path in &selected.profiles {
        errors += check_file(path, check_profile);
    }
    for path in &selected.baselines {
        errors += check_file(path, check_baseline);
    }
    let mut suite = Suite::default();
    if !selected.scenarios.is_empty() {
        suite = Suite::load(&selected.scenarios, &selected.matrices);
    } else if !selected.matrices.is_empty() {
        suite.problems = conform::matrix::load_paths(&selected.matrices).1;
    }
    errors += say_problems(&suite.problems);
    if args.coverage {
        say_coverage(&suite)?;
    }
    if errors > 0 {
        anstream::eprintln!("{}", counted(errors, "problem"));
        return Ok(Status::BadInput);
    }
    print(&format!(
        "{} with {} ({} excluded), {} matrices, {}, {}: no problems\n",
        counted(suite.scenarios, "scenario"),
        counted(suite.cases.len(), "case"),
        counted(suite.excluded.len(), "cell"),
        selected.matrices.len(),
        counted(selected.profiles.len(), "profile"),
        counted(selected.baselines.len(), "baseline"),
    ))?;
    Ok(Status::Success)
}

fn nothing_to_check(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return format!("there is no folder {} here; name what to check", FOLDERS.join(", "));
    }
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    format!(
        "there is nothing to check in {}; scenarios and matrices are `*.yaml`, profiles and \
         baselines `*.toml`",
        paths.join(", ")
    )
}

fn sort(paths: &[PathBuf]) -> anyhow::Result<Selected> {
    let mut selected = Selected::default();
    for path in paths {
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| cannot_look(path, error))?;
            if entry.file_type().is_file() {
                sort_file(entry.into_path(), &mut selected);
            }
        }
    }
    Ok(selected)
}

fn cannot_look(path: &Path, error: walkdir::Error) -> anyhow::Error {
    let place = error.path().unwrap_or(path).display().to_string();
    let why = error.into_io_error().map_or_else(|| "a loop of links".to_owned(), |e| e.to_string());
    anyhow::anyhow!("cannot look into {place}: {why}; check the path, taken from this folder")
}

fn sort_file(path: PathBuf, selected: &mut Selected) {
    let is_below = |name: &str| path.iter().any(|part| part == name);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") if is_below("baselines") => selected.baselines.push(path),
        Some("toml") => selected.profiles.push(path),
        Some("yaml" | "yml") if is_below("matrices") => selected.matrices.push(path),
        Some("yaml" | "yml") => selected.scenarios.push(path),
        _ => {}
    }
}

/// Checks one file; says what is wrong and how many things that are.
fn check_file(path: &Path, check: fn(&str, &str) -> anyhow::Result<()>) -> usize {
    let name = path.display().to_string();
    let result = std::fs::read_to_string(path)
        .map_err(|error| anyhow::anyhow!("cannot read {name}: {error}"))
        .and_then(|text| check(&name, &text));
    match result {
        Ok(()) => 0,
        Err(error) => {
            say_error(&error);
            1
        }
    }
}

fn check_profile(name: &str, text: &str) -> anyhow::Result<()> {
    Ok(registry::parse(name, text).map(drop)?)
}

fn check_baseline(name: &str, text: &str) -> anyhow::Result<()> {
    Ok(conform::run::Baseline::check(name, text)?)
}

fn say_coverage(suite: &Suite) -> anyhow::Result<()> {
    let served: BTreeSet<&str> = suite
        .cases
        .iter()
        .flat_map(|case| {
            let expectations = [Some(&case.main), case.control.as_ref()]
                .into_iter()
                .flatten()
                .flat_map(|v| &v.expect);
            std::iter::once(case.clause.id()).chain(expectations.map(|e| e.clause.id()))
        })
        .collect();
    let missing: Vec<_> =
        clause::catalogue().iter().filter(|clause| !served.contains(clause.id.as_str())).collect();
    let mut page = Page::default();
    for clause in &missing {
        page.line(format_args!("no case serves {} ({})", clause.id, clause.severity));
    }
    let all = clause::catalogue().len();
    page.line(format_args!("{} of {all} clauses have a case", all - missing.len()));
    page.print()
}
