//! The suite: every case that a selection of files stands for.

use std::path::{Path, PathBuf};

use conform_mock_server::document::{Diagnostic, Severity};
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::case::{Case, Skipped, expand};
use crate::matrix::{self, Matrix};
use crate::scenario::{self, Scenario};

/// What a selection of files holds.
#[derive(Debug, Default)]
pub struct Suite {
    /// How many scenarios were read.
    pub scenarios: usize,
    /// All cases, in the order of files and axes.
    pub cases: Vec<Case>,
    /// Cells that a matrix leaves out.
    pub excluded: Vec<Skipped>,
    /// Everything wrong with the files.
    pub problems: Vec<Diagnostic>,
}

impl Suite {
    /// Reads scenarios from files and folders, and expands them with matrices.
    ///
    /// Matrices are looked for in `matrices` if given, otherwise in the folder `matrices` beside a
    /// `scenarios` folder of the selection, otherwise in `./matrices`.
    pub fn load(paths: &[PathBuf], matrices: &[PathBuf]) -> Self {
        let loaded = scenario::load_paths(paths);
        let mut problems = loaded.problems;
        let folders = if matrices.is_empty() { beside(paths) } else { matrices.to_vec() };
        let (matrices, found) = matrix::load_paths(&folders);
        problems.extend(found);
        let mut suite = Self { scenarios: loaded.scenarios.len(), ..Self::default() };
        for scenario in &loaded.scenarios {
            suite.expand(scenario, &matrices, &mut problems);
        }
        suite.problems = problems;
        suite
    }

    /// Keeps the cases whose id matches any of the filters; without filters, all.
    pub fn retain(&mut self, filter: &Filter) {
        self.cases.retain(|case| filter.keeps(&case.id));
    }

    /// Whether nothing keeps the cases from being run.
    pub fn is_sound(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity < Severity::Error)
    }

    fn expand(&mut self, scenario: &Scenario, matrices: &[Matrix], problems: &mut Vec<Diagnostic>) {
        match expand(scenario, matrices) {
            Ok(expansion) => {
                self.cases.extend(expansion.cases);
                self.excluded.extend(expansion.skipped);
            }
            Err(found) => problems.extend(found),
        }
    }
}

/// Which case ids are meant.
#[derive(Debug, Clone)]
pub struct Filter {
    globs: GlobSet,
    words: Vec<String>,
}

/// A filter that is not a glob.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{filter}` is not a filter: {source}; use part of a case id, or a glob such as `*.file-read.*`"
)]
pub struct FilterError {
    filter: String,
    source: globset::Error,
}

impl Filter {
    /// A filter by parts of case ids, or globs where a part holds `*`, `?` or `[`.
    ///
    /// # Errors
    /// When a glob is malformed.
    pub fn new(filters: &[String]) -> Result<Self, FilterError> {
        let (globs, words): (Vec<_>, Vec<_>) =
            filters.iter().cloned().partition(|filter| filter.contains(['*', '?', '[']));
        let mut set = GlobSetBuilder::new();
        for filter in globs {
            match Glob::new(&filter) {
                Ok(glob) => set.add(glob),
                Err(source) => return Err(FilterError { filter, source }),
            };
        }
        let globs =
            set.build().map_err(|source| FilterError { filter: filters.join(" "), source })?;
        Ok(Self { globs, words })
    }

    fn keeps(&self, id: &str) -> bool {
        (self.globs.is_empty() && self.words.is_empty())
            || self.globs.is_match(id)
            || self.words.iter().any(|word| id.contains(word))
    }
}

/// The `matrices` folders that belong to a selection of scenario files.
fn beside(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = paths
        .iter()
        .filter_map(|path| {
            let path = std::path::absolute(path).ok()?;
            let root = path.ancestors().find(|folder| folder.ends_with("scenarios"))?;
            Some(root.parent()?.join("matrices"))
        })
        .chain([PathBuf::from("matrices")])
        .filter(|folder| folder.is_dir())
        .map(|folder| shorten(&folder))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// A path below the current folder in its short form, which messages use.
fn shorten(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_part_or_a_glob() {
        let filter = |texts: &[&str]| {
            Filter::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
        };
        assert!(filter(&[]).keeps("a.b"));
        assert!(filter(&["b.c"]).keeps("a.b.c"));
        assert!(!filter(&["b.d"]).keeps("a.b.c"));
        assert!(filter(&["a.*"]).keeps("a.b.c"));
        assert!(!filter(&["b.*"]).keeps("a.b.c"));
        assert!(filter(&["nothing", "*.c"]).keeps("a.b.c"));
        let error = Filter::new(&["a[".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("`a[` is not a filter"), "{error}");
    }
}
