//! Where a path really leads: inside the workspace, outside it, or into the agent's own files.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    io::ErrorKind,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use crate::defect::{Defect, Defects};

/// As many links as the kernel follows before it gives up.
const MAX_LINKS: usize = 40;

/// Files that steer the agent wherever they stand: project rules, the mark of a project root, and
/// the settings of curl, without which a download would not be plain.
const OWN_NAMES: [&str; 4] = ["AGENTS.md", ".lab-root", ".curlrc", "curlrc"];

/// The file that a call means, after every link and parent step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) place: Place,
}

/// What a target is to the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// An ordinary file of the workspace.
    Inside,
    /// Beyond the workspace, or a file with a second name that may be beyond it.
    Outside,
    /// A rule or settings file, or the version control folder.
    OwnConfig,
    /// The agent's state folder.
    OwnState,
}

/// A path that leads nowhere.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path holds a zero byte")]
    ZeroByte,
    #[error("too many links on the way to {0}")]
    Links(String),
    #[error("cannot follow {path}: {source}")]
    Follow { path: String, source: std::io::Error },
}

/// The working folder and the files in it that are not ordinary.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    state: PathBuf,
    own_files: Vec<PathBuf>,
    defects: Defects,
}

impl Workspace {
    /// `root` is the canonical working folder, `state` the agent's state folder (it need not
    /// exist), `own_files` are loaded rule files and the session file.
    pub(crate) fn new(
        root: PathBuf,
        state: &Path,
        own_files: &[PathBuf],
        defects: &Defects,
    ) -> Result<Self, PathError> {
        Ok(Self {
            state: resolve(&root, state)?,
            own_files: own_files
                .iter()
                .map(|file| resolve(&root, file))
                .collect::<Result<_, _>>()?,
            root,
            defects: defects.clone(),
        })
    }

    /// Resolves a path as a call spells it, absolute or from the working folder.
    pub(crate) fn locate(&self, spelled: &str) -> Result<Target, PathError> {
        if spelled.is_empty() {
            return Err(PathError::Empty);
        }
        if spelled.contains('\0') {
            return Err(PathError::ZeroByte);
        }
        let path = resolve(&self.root, Path::new(spelled))?;
        let place = self.place(&lexical(&self.root.join(spelled)), &path);
        let naive = self.root.join(spelled);
        if self.defects.has(Defect::WriteOutsideWorkspace)
            && place == Place::Outside
            && naive.starts_with(&self.root)
        {
            return Ok(Target { path: naive, place: Place::Inside });
        }
        Ok(Target { path, place })
    }

    fn place(&self, spelled: &Path, resolved: &Path) -> Place {
        if resolved.starts_with(&self.state) {
            return Place::OwnState;
        }
        let own = [spelled, resolved].into_iter().any(|path| self.is_own_config(path));
        if own && !self.defects.has(Defect::OwnRulesWritable) {
            return Place::OwnConfig;
        }
        // A second hard link may stand anywhere, so such a file is not the workspace's alone.
        let shared = std::fs::symlink_metadata(resolved)
            .is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1);
        if resolved.starts_with(&self.root) && !shared { Place::Inside } else { Place::Outside }
    }

    fn is_own_config(&self, path: &Path) -> bool {
        // Folders above the workspace may have any name; only what is below it is looked at.
        let names = path.strip_prefix(&self.root).unwrap_or(path);
        self.own_files.iter().any(|file| file == path)
            || names.components().any(|part| is_own_folder(part.as_os_str()))
            || path
                .file_name()
                .is_some_and(|name| OWN_NAMES.iter().any(|own| name.eq_ignore_ascii_case(own)))
    }

    /// Whether reading below this word of a command line could read the agent's own state. A path
    /// that cannot be followed counts, because nothing is known about it.
    pub(crate) fn may_reach_state(&self, word: &str) -> bool {
        match resolve(&self.root, Path::new(word)) {
            Ok(path) => path.starts_with(&self.state) || self.state.starts_with(&path),
            Err(_) => true,
        }
    }
}

fn is_own_folder(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".lab") || name.eq_ignore_ascii_case(".git")
}

/// Follows a path the way the kernel does, link by link, and goes on by name where nothing exists.
///
/// The last part is followed too: a link to a file that does not exist leads to where the file
/// would be created.
pub(crate) fn resolve(base: &Path, path: &Path) -> Result<PathBuf, PathError> {
    let full = base.join(path);
    let mut ahead: VecDeque<OsString> = parts(&full).collect();
    let mut reached = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        if part == ".." {
            reached.pop();
            continue;
        }
        reached.push(&part);
        match std::fs::symlink_metadata(&reached) {
            Ok(metadata) if metadata.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(PathError::Links(full.display().to_string()));
                }
                let to = std::fs::read_link(&reached).map_err(|source| follow(&reached, source))?;
                reached.pop();
                if to.is_absolute() {
                    reached = PathBuf::from("/");
                }
                for part in parts(&to).collect::<Vec<_>>().into_iter().rev() {
                    ahead.push_front(part);
                }
            }
            Ok(_) => {}
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(source) => return Err(follow(&reached, source)),
        }
    }
    Ok(reached)
}

fn follow(path: &Path, source: std::io::Error) -> PathError {
    PathError::Follow { path: path.display().to_string(), source }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// The path by its spelling alone: parent steps taken, links not followed.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in parts(path) {
        if part == ".." {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

#[cfg(test)]
impl Target {
    /// A target that no workspace has judged.
    pub(crate) fn for_tests(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), place: Place::Inside }
    }
}

#[cfg(test)]
mod tests;
