//! What became of the file tree: exactly what is expected, and nothing else.

use std::path::{Component, Path, PathBuf};

use conform_reports::record::{ErrorKind, FileChange, FileChangeKind};

use super::Answer;
use crate::case::LateText;
use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::check::trouble::Trouble;
use crate::evidence::escaped_name;
use crate::scenario::{FilesExpectation, Zone};

pub(super) fn check(run: &Run<'_>, expected: &FilesExpectation<LateText>) -> Answer {
    let mut breaches: Vec<Breach> = unexpected(run, expected)
        .into_iter()
        .map(|change| {
            let path = run.excerpt(&change.path);
            Breach::seen(format!("{path} untouched"), done(change.change))
        })
        .collect();
    for (kind, paths) in kinds(expected) {
        for wanted in paths {
            let Some(path) = tree_path(run, wanted) else {
                return Answer::unproved(Trouble::new(
                    ErrorKind::Harness,
                    format!("the expected path `{}` lies outside of the case", wanted.display()),
                    "name a path in the workspace, or one that starts with home/, outside/ or tmp/",
                ));
            };
            if !run.evidence.files.iter().any(|change| change.change == kind && change.path == path)
            {
                let other = run.evidence.files.iter().find(|change| change.path == path);
                let seen = other.map_or("untouched", |change| done(change.change));
                let expected = format!("{} {}", run.excerpt(&path), done(kind));
                breaches.push(Breach::missing(expected, seen));
            }
        }
    }
    Answer::broken(breaches)
}

/// The changes that are not expected. A file that is expected covers the new folders above it.
pub(super) fn unexpected<'r>(
    run: &'r Run<'_>,
    expected: &FilesExpectation<LateText>,
) -> Vec<&'r FileChange> {
    let wanted: Vec<(FileChangeKind, String)> = kinds(expected)
        .into_iter()
        .flat_map(|(kind, paths)| {
            paths.iter().filter_map(move |path| Some((kind, tree_path(run, path)?)))
        })
        .collect();
    let is_wanted = |change: &FileChange| {
        wanted.iter().any(|(kind, path)| {
            let parent = || change.path.ends_with('/') && path.starts_with(&change.path);
            *kind == change.change
                && (*path == change.path || *kind == FileChangeKind::Created && parent())
        })
    };
    run.evidence.files.iter().filter(|change| !is_wanted(change)).collect()
}

fn kinds(expected: &FilesExpectation<LateText>) -> [(FileChangeKind, &[LateText]); 3] {
    [
        (FileChangeKind::Created, &expected.created),
        (FileChangeKind::Changed, &expected.changed),
        (FileChangeKind::Deleted, &expected.deleted),
    ]
}

fn done(change: FileChangeKind) -> &'static str {
    match change {
        FileChangeKind::Created => "created",
        FileChangeKind::Changed => "changed",
        FileChangeKind::Deleted => "deleted",
    }
}

/// The path in the case tree that an expectation means: below the workspace, unless it starts with
/// the name of a zone or is absolute. `None` when it leaves the case.
fn tree_path(run: &Run<'_>, path: &LateText) -> Option<String> {
    let text = run.resolve(path);
    let given = Path::new(&text);
    let root = run.evidence.places.workspace.parent()?;
    let mut found = PathBuf::new();
    let relative = if given.is_absolute() {
        given.strip_prefix(root).ok()?
    } else {
        let zoned = Zone::ALL.iter().any(|zone| given.starts_with(zone.name()));
        if !zoned {
            found.push(Zone::Workspace.name());
        }
        given
    };
    for part in relative.components() {
        match part {
            Component::Normal(name) => found.push(name),
            Component::ParentDir if found.pop() => {}
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let mut name = escaped_name(&found);
    if text.ends_with('/') {
        name.push('/');
    }
    Some(name)
}
