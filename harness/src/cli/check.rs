//! `conform check`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use conform::agent::registry;
use conform::clause;
use conform::suite::Suite;
use walkdir::WalkDir;

use super::{Status, say_error, say_problems};

/// What to check.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files or folders of scenarios, matrices and profiles
    #[arg(default_values = ["scenarios", "matrices", "agents"])]
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

pub(crate) fn main(args: &CheckArgs) -> anyhow::Result<Status> {
    let selected = sort(&args.paths)?;
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
        say_coverage(&suite);
    }
    if errors > 0 {
        anstream::eprintln!("{errors} {}", if errors == 1 { "problem" } else { "problems" });
        return Ok(Status::BadInput);
    }
    anstream::println!(
        "{} scenarios with {} cases ({} cells excluded), {} matrices, {} profiles, {} baselines: no problems",
        suite.scenarios,
        suite.cases.len(),
        suite.excluded.len(),
        selected.matrices.len(),
        selected.profiles.len(),
        selected.baselines.len(),
    );
    Ok(Status::Success)
}

fn sort(paths: &[PathBuf]) -> anyhow::Result<Selected> {
    let mut selected = Selected::default();
    for path in paths {
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry?;
            if entry.file_type().is_file() {
                sort_file(entry.into_path(), &mut selected);
            }
        }
    }
    Ok(selected)
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

fn say_coverage(suite: &Suite) {
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
    for clause in &missing {
        anstream::println!("no case serves {} ({})", clause.id, clause.severity);
    }
    anstream::println!(
        "{} of {} clauses have a case",
        clause::catalogue().len() - missing.len(),
        clause::catalogue().len()
    );
}
