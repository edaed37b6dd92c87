//! `edit`: one passage of one file.

use std::io::ErrorKind;

use super::{Outcome, write};
use crate::workspace::Target;

/// Replaces `old`, which must occur exactly once, by `new`; otherwise the file stays as it is.
pub(super) fn run(target: &Target, old: &str, new: &str) -> Outcome {
    let path = target.path.display();
    if !target.path.is_dir() && target.path.exists() && !target.path.is_file() {
        return Outcome::error(format!("not a regular file: {path}"));
    }
    let text = match std::fs::read_to_string(&target.path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Outcome::error(format!("not found: {path}"));
        }
        Err(error) => return Outcome::error(format!("cannot edit {path}: {error}")),
    };
    if old.is_empty() {
        return Outcome::error("the old passage is empty; use write to fill a file");
    }
    match text.matches(old).count() {
        0 => Outcome::error(format!("the old passage does not occur in {path}")),
        1 => match write::store(target, &text.replacen(old, new, 1)) {
            Ok(()) => Outcome::ok("replaced 1 passage"),
            Err(outcome) => outcome,
        },
        count => Outcome::error(format!("the old passage occurs {count} times in {path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_passage_is_replaced_and_anything_else_leaves_the_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "one two two").unwrap();
        let edit = |old: &str| run(&Target::for_tests(&file), old, "new").text();
        assert!(edit("two").contains("occurs 2 times"));
        assert!(edit("three").contains("does not occur"));
        assert!(edit("").contains("is empty"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one two two");
        assert_eq!(edit("one"), "ok\nreplaced 1 passage");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new two two");
    }

    #[test]
    fn a_missing_file_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = run(&Target::for_tests(folder.path().join("none")), "a", "b");
        assert!(outcome.text().starts_with("error: not found: "));
    }
}
