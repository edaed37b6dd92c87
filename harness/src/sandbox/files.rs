//! The file system as a run sees it: all of it there to read, its case folder alone to change.
//!
//! The keeper makes a mount namespace. In it every file system is read-only except the case folder,
//! and the folders that everyone may write to are empty ones of the run's own, which vanish with
//! it. So an agent that writes to `/tmp` by name neither sees what is there nor leaves anything, and
//! two runs do not meet in it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

/// Where everyone may write.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// What the kernel and its devices present as files: nothing there is on a disk.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What a run sees of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The folder that it may change.
    pub case: PathBuf,
    /// Programs, and folders of programs, that it must find even where they lie in a folder that
    /// everyone may write to.
    pub needed: Vec<PathBuf>,
}

/// Why the files are as the machine has them; the text ends with what can be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    #[error(
        "the kernel refuses a mount namespace ({0}); run as root, or let this user make user namespaces"
    )]
    Refused(Errno),
    #[error(
        "cannot {what} {path}: {errno}; the container's security profile (AppArmor, seccomp) may forbid mounts: let it have them, or run outside of it"
    )]
    Mount { what: &'static str, path: PathBuf, errno: Errno },
    #[error("cannot look at {path}: {source}; see that it is there and may be read")]
    Look { path: PathBuf, source: io::Error },
    #[error("cannot make {path} in a folder of the run's own: {source}; see that memory is left")]
    Make { path: PathBuf, source: io::Error },
}

/// Gives the calling process, which must have one thread and have entered its network, the files
/// of a run. After an error they are as they were, or partly confined: nothing must be launched
/// then.
pub(super) fn confine(files: &Files) -> Result<(), FilesError> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(FilesError::Refused)?;
    // What is mounted here must not show outside, nor the other way round.
    change(None, Path::new("/"), MsFlags::MS_REC | MsFlags::MS_PRIVATE, "keep mounts apart from")?;
    // A mount of its own stays writable when the one that it lies on is not.
    bind(&files.case, &files.case)?;

    let shared = shared_folders();
    let needed = files.needed.iter().flat_map(|path| with_target(path));
    let visible = opened(entries(&shared, needed))?;
    let case = opened(vec![files.case.clone()])?;
    make_read_only(&files.case)?;
    for folder in &shared {
        let options = Some("mode=1777");
        mount(
            Some("tmpfs"),
            folder,
            Some("tmpfs"),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
            options,
        )
        .map_err(|errno| failed("mount a folder of the run's own at", folder, errno))?;
    }
    for (handle, path) in visible.iter().chain(&case) {
        if shared.iter().any(|folder| path.starts_with(folder)) {
            restore(handle, path)?;
        }
    }
    Ok(())
}

/// The folders that everyone may write to, each once, however many names it has.
fn shared_folders() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in SHARED {
        match Path::new(folder).canonicalize() {
            Ok(folder) if !found.contains(&folder) => found.push(folder),
            // Named twice, or not on this machine.
            Ok(_) | Err(_) => {}
        }
    }
    found
}

/// A path, and the path that it comes to when links are followed.
fn with_target(path: &Path) -> Vec<PathBuf> {
    let mut paths = vec![path.to_owned()];
    paths.extend(path.canonicalize().ok().filter(|target| target != path));
    paths
}

/// The entries of the shared folders in which the needed paths lie, each once.
fn entries(shared: &[PathBuf], needed: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = needed
        .filter_map(|path| {
            let folder = shared.iter().find(|folder| path.starts_with(folder))?;
            let entry = path.strip_prefix(folder).ok()?.components().next()?;
            Some(folder.join(entry))
        })
        .filter(|entry| entry.exists())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Handles by which the paths can be reached when something else is mounted above them.
fn opened(paths: Vec<PathBuf>) -> Result<Vec<(File, PathBuf)>, FilesError> {
    let open = |path: PathBuf| {
        let handle = OpenOptions::new().read(true).custom_flags(OFlag::O_PATH.bits()).open(&path);
        match handle {
            Ok(handle) => Ok((handle, path)),
            Err(source) => Err(FilesError::Look { path, source }),
        }
    };
    paths.into_iter().map(open).collect()
}

/// Makes every file system read-only that is a place for files, but for the case folder.
fn make_read_only(case: &Path) -> Result<(), FilesError> {
    let table = Path::new("/proc/self/mountinfo");
    let text = std::fs::read(table)
        .map_err(|source| FilesError::Look { path: table.to_owned(), source })?;
    for mounted in text.split(|byte| *byte == b'\n').filter_map(Mounted::read) {
        let path = mounted.path.as_path();
        if path == case || KERNEL.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let flags =
            MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | mounted.kept_flags;
        match mount(None::<&str>, path, None::<&str>, flags, None::<&str>) {
            // One that is hidden by another or closed to this user is out of the agent's reach too.
            Ok(()) | Err(Errno::ENOENT | Errno::EACCES | Errno::ENOTDIR) => {}
            Err(errno) => return Err(failed("make read-only", path, errno)),
        }
    }
    Ok(())
}

/// A line of `/proc/self/mountinfo` (`man 5 proc_pid_mountinfo`).
#[derive(Debug, PartialEq, Eq)]
struct Mounted {
    path: PathBuf,
    /// What must be said again when it is mounted anew: an unprivileged user may not take it back.
    kept_flags: MsFlags,
}

impl Mounted {
    fn read(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let (path, options) = (fields.nth(4)?, fields.next()?);
        let flags = options.split(|byte| *byte == b',').map(|option| match option {
            b"nosuid" => MsFlags::MS_NOSUID,
            b"nodev" => MsFlags::MS_NODEV,
            b"noexec" => MsFlags::MS_NOEXEC,
            b"noatime" => MsFlags::MS_NOATIME,
            b"nodiratime" => MsFlags::MS_NODIRATIME,
            b"relatime" => MsFlags::MS_RELATIME,
            _ => MsFlags::empty(),
        });
        let mut kept_flags: MsFlags = flags.collect();
        if !kept_flags.intersects(MsFlags::MS_NOATIME | MsFlags::MS_RELATIME) {
            kept_flags |= MsFlags::MS_STRICTATIME;
        }
        Some(Self { path: unescaped(path).into(), kept_flags })
    }
}

/// The path that a field of the table means: a blank, a tab, a line's end and a backslash stand
/// there as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> OsString {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let octal = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = octal.and_then(|octal| u8::from_str_radix(octal, 8).ok()) {
            path.push(byte);
            rest = &after[3..];
        } else {
            path.push(*first);
            rest = after;
        }
    }
    OsString::from_vec(path)
}

/// Puts what a handle leads to at its path again, below an empty folder that hides it.
fn restore(handle: &File, path: &Path) -> Result<(), FilesError> {
    let look = |source| FilesError::Look { path: path.to_owned(), source };
    let is_folder = handle.metadata().map_err(look)?.is_dir();
    let make = |source| FilesError::Make { path: path.to_owned(), source };
    // Where the parent was restored, it is there already.
    if !path.exists() {
        if is_folder {
            std::fs::create_dir_all(path).map_err(make)?;
        } else {
            File::create(path).map_err(make)?;
        }
    }
    bind(Path::new(&format!("/proc/self/fd/{}", handle.as_raw_fd())), path)
}

fn bind(source: &Path, path: &Path) -> Result<(), FilesError> {
    change(Some(source), path, MsFlags::MS_BIND | MsFlags::MS_REC, "bind")
}

fn change(
    source: Option<&Path>,
    path: &Path,
    flags: MsFlags,
    what: &'static str,
) -> Result<(), FilesError> {
    mount(source, path, None::<&str>, flags, None::<&str>)
        .map_err(|errno| failed(what, path, errno))
}

fn failed(what: &'static str, path: &Path, errno: Errno) -> FilesError {
    FilesError::Mount { what, path: path.to_owned(), errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_is_read() {
        let line = br"36 35 98:0 /mnt1 /a\040b\134c rw,nosuid,noatime master:1 - ext3 /dev/root rw";
        let kept_flags = MsFlags::MS_NOSUID | MsFlags::MS_NOATIME;
        let path = PathBuf::from(r"/a b\c");
        assert_eq!(Mounted::read(line), Some(Mounted { path, kept_flags }));
        assert_eq!(Mounted::read(b""), None);
    }

    #[test]
    fn access_times_are_kept_as_they_were() {
        let read = |options: &str| {
            let line = format!("1 1 0:1 / /a {options} - ext4 /dev/a rw");
            Mounted::read(line.as_bytes()).unwrap().kept_flags
        };
        assert_eq!(read("rw"), MsFlags::MS_STRICTATIME);
        assert_eq!(read("rw,relatime"), MsFlags::MS_RELATIME);
        assert_eq!(
            read("rw,noexec,nodev"),
            MsFlags::MS_STRICTATIME | MsFlags::MS_NOEXEC | MsFlags::MS_NODEV
        );
    }

    #[test]
    fn what_is_no_escape_stays() {
        for text in [r"\", r"\0", r"\09x", r"a\", "\\999"] {
            assert_eq!(unescaped(text.as_bytes()), OsString::from(text));
        }
    }

    #[test]
    fn a_needed_path_brings_the_entry_that_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(shared.join("a/b")).unwrap();
        std::fs::write(shared.join("program"), "").unwrap();
        let needed = ["a/b", "a/b/c", "program", "missing"].map(|path| shared.join(path));
        let others = [shared.clone(), PathBuf::from("/usr/bin/env")];
        let found = entries(std::slice::from_ref(&shared), needed.into_iter().chain(others));
        assert_eq!(found, [shared.join("a"), shared.join("program")]);
    }
}
