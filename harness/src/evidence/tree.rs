//! The file-tree oracle: the whole case tree before and after, and what differs.

mod own_state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use conform_reports::record::{FileChange, FileChangeKind};
use nix::fcntl::OFlag;
use walkdir::WalkDir;

pub use own_state::OwnState;

/// Every entry below a folder: type, mode bits, contents, link target.
///
/// Links are never followed and nothing but regular files is opened. Times are not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    entries: BTreeMap<PathBuf, Entry>,
}

/// The tree could not be seen.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the case folder {root}: {source}; check that nothing removes it during a run")]
pub struct TreeError {
    root: String,
    source: io::Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: u32,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    File {
        size: u64,
        hash: blake3::Hash,
    },
    Folder,
    Link(PathBuf),
    /// A device, pipe or socket, with its device number.
    Special {
        kind: SpecialKind,
        device: u64,
    },
    /// There, but not to be read by this process.
    Unreadable {
        folder: bool,
        why: io::ErrorKind,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecialKind {
    Pipe,
    Socket,
    BlockDevice,
    CharacterDevice,
    Other,
}

impl Snapshot {
    /// Sees every entry below `root`, whatever it is. An entry that cannot be read is an entry of
    /// its own kind, so that a later change of that is seen too.
    ///
    /// # Errors
    /// When `root` itself cannot be listed.
    pub fn take(root: &Path) -> Result<Self, TreeError> {
        let fail = |source| TreeError { root: root.display().to_string(), source };
        // A missing root would otherwise be one unreadable entry and then an empty tree.
        std::fs::read_dir(root).map_err(fail)?;
        let mut entries = BTreeMap::new();
        for found in WalkDir::new(root).min_depth(1).follow_links(false) {
            match found {
                Ok(found) => {
                    let path = found.path();
                    if let Some(entry) = Entry::at(path) {
                        entries.insert(below(root, path), entry);
                    }
                }
                Err(error) => {
                    let why = error.io_error().map_or(io::ErrorKind::Other, io::Error::kind);
                    match error.path() {
                        Some(path) if path != root => {
                            mark_unreadable(&mut entries, below(root, path), why);
                        }
                        _ => return Err(fail(error.into())),
                    }
                }
            }
        }
        Ok(Self { entries })
    }

    /// Takes an entry and its folders as they are now: what was done to it until now counts as
    /// having been so.
    pub fn adopt(&mut self, root: &Path, path: &Path) {
        for path in path.ancestors().take_while(|path| *path != root) {
            match Entry::at(path) {
                Some(entry) => self.entries.insert(below(root, path), entry),
                None => self.entries.remove(&below(root, path)),
            };
        }
    }

    /// What differs, sorted by path, without the agent's own state. A folder's path ends in `/`.
    pub fn changes(before: &Self, after: &Self, ignore: &OwnState) -> Vec<FileChange> {
        let gone = before.entries.iter().filter_map(|(path, entry)| {
            let lost = !after.entries.contains_key(path) && !before.is_own(path, entry, ignore);
            lost.then(|| change(path, entry, FileChangeKind::Deleted))
        });
        let there = after.entries.iter().filter_map(|(path, entry)| {
            let kind = match before.entries.get(path) {
                None if after.is_own(path, entry, ignore) => return None,
                None => FileChangeKind::Created,
                Some(old) if old == entry || ignore.holds(path, entry.is_folder()) => return None,
                Some(_) => FileChangeKind::Changed,
            };
            Some(change(path, entry, kind))
        });
        let mut changes: Vec<FileChange> = gone.chain(there).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }

    /// Whether an entry is the agent's own state: named as such, or a folder that holds own state
    /// and nothing else.
    fn is_own(&self, path: &Path, entry: &Entry, ignore: &OwnState) -> bool {
        if ignore.holds(path, entry.is_folder()) {
            return true;
        }
        if !entry.is_folder() {
            return false;
        }
        // Paths are ordered by component, so what is below a folder follows it without a gap.
        let inside: Vec<_> = self
            .entries
            .range(path.to_path_buf()..)
            .skip(1)
            .take_while(|(inner, _)| inner.starts_with(path))
            .collect();
        !inside.is_empty()
            && inside.iter().enumerate().all(|(index, (inner, entry))| {
                ignore.holds(inner, entry.is_folder())
                    || entry.is_folder()
                        && inside.get(index + 1).is_some_and(|(next, _)| next.starts_with(inner))
            })
    }
}

impl Entry {
    /// The entry at a path; `None` when it has just vanished.
    fn at(path: &Path) -> Option<Self> {
        let metadata = match std::fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                return Some(Self { mode: 0, content: unreadable(false, error.kind()) });
            }
        };
        let mode = metadata.mode() & 0o7777;
        match Content::of(path, &metadata) {
            Ok(content) => Some(Self { mode, content }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Self { mode, content: unreadable(false, error.kind()) }),
        }
    }

    fn is_folder(&self) -> bool {
        matches!(self.content, Content::Folder | Content::Unreadable { folder: true, .. })
    }
}

impl Content {
    fn of(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        let kind = metadata.file_type();
        if kind.is_dir() {
            return Ok(Self::Folder);
        }
        if kind.is_symlink() {
            return std::fs::read_link(path).map(Self::Link);
        }
        if kind.is_file() {
            // Should a link or pipe have taken the file's place, it is neither followed nor
            // waited for.
            let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
            let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(file)?;
            return Ok(Self::File { size: hasher.count(), hash: hasher.finalize() });
        }
        let special = if kind.is_fifo() {
            SpecialKind::Pipe
        } else if kind.is_socket() {
            SpecialKind::Socket
        } else if kind.is_block_device() {
            SpecialKind::BlockDevice
        } else if kind.is_char_device() {
            SpecialKind::CharacterDevice
        } else {
            SpecialKind::Other
        };
        Ok(Self::Special { kind: special, device: metadata.rdev() })
    }
}

/// A path or name as text: itself where it is UTF-8 without a backslash; else every backslash
/// doubled and every other byte written as `\xNN`, so that two names never become one.
pub fn escaped_name(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn change(path: &Path, entry: &Entry, change: FileChangeKind) -> FileChange {
    let mut path = escaped_name(path);
    if entry.is_folder() {
        path.push('/');
    }
    FileChange { path, change }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_path_buf()
}

fn unreadable(folder: bool, why: io::ErrorKind) -> Content {
    Content::Unreadable { folder, why }
}

/// Notes that an entry could not be read; a folder that could not be listed has been seen before.
fn mark_unreadable(entries: &mut BTreeMap<PathBuf, Entry>, path: PathBuf, why: io::ErrorKind) {
    if why == io::ErrorKind::NotFound {
        entries.remove(&path);
        return;
    }
    entries
        .entry(path)
        .and_modify(|entry| entry.content = unreadable(entry.is_folder(), why))
        .or_insert(Entry { mode: 0, content: unreadable(false, why) });
}
