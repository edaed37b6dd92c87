//! Which processes are below the keeper, read from `/proc`.

use std::collections::{HashMap, HashSet};

use nix::unistd::{Pid, getpid};

/// A process below the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Descendant {
    /// Its id.
    pub(super) pid: Pid,
    /// Its name, as in `/proc/PID/comm`.
    pub(super) name: String,
    /// Whether it has ended and only waits for its parent to notice.
    pub(super) ended: bool,
}

/// All processes below this one, nearest first, but for those at or below `except`.
///
/// # Errors
/// When `/proc` cannot be listed. A process that ends while it is read is left out.
pub(super) fn below_this_process(except: &HashSet<Pid>) -> std::io::Result<Vec<Descendant>> {
    let mut children: HashMap<Pid, Vec<Descendant>> = HashMap::new();
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process may end between the listing and this line; then it is of no interest.
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
        if let Some((parent, descendant)) = parse(Pid::from_raw(pid), &stat) {
            children.entry(parent).or_default().push(descendant);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![getpid()];
    while let Some(parent) = parents.pop() {
        for descendant in children.remove(&parent).unwrap_or_default() {
            if !except.contains(&descendant.pid) {
                parents.push(descendant.pid);
                found.push(descendant);
            }
        }
    }
    Ok(found)
}

/// Reads `pid (name) state ppid …` (`man 5 proc_pid_stat`); the name may hold spaces and brackets.
fn parse(pid: Pid, stat: &[u8]) -> Option<(Pid, Descendant)> {
    let stat = String::from_utf8_lossy(stat);
    let (before, rest) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = rest.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X");
    let parent = Pid::from_raw(fields.next()?.parse().ok()?);
    Some((parent, Descendant { pid, name: name.to_owned(), ended }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_and_spaces_are_read() {
        let (parent, found) = parse(Pid::from_raw(7), b"7 (a) b (c)) Z 42 7 7 0").unwrap();
        assert_eq!(parent, Pid::from_raw(42));
        assert_eq!(found.name, "a) b (c)");
        assert!(found.ended);
    }

    #[test]
    fn a_child_and_its_child_are_found() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 1000 & echo ready; read x; kill $!"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        let all = below_this_process(&HashSet::new()).unwrap();
        let without = below_this_process(&HashSet::from([pid])).unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(all.iter().any(|found| found.pid == pid && found.name == "sh"), "{all:?}");
        let grandchild = all.iter().find(|found| {
            found.pid != pid && !without.contains(found) && found.pid.as_raw() > pid.as_raw()
        });
        assert!(grandchild.is_some(), "{all:?} {without:?}");
    }
}
