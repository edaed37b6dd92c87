//! `write`: the whole content of one file.

use std::io::ErrorKind;

use super::Outcome;
use crate::workspace::Target;

/// Creates the file, and the folders above it, or replaces its content.
pub(super) fn run(target: &Target, content: &str) -> Outcome {
    match store(target, content) {
        Ok(()) => Outcome::ok(format!("wrote {} bytes", content.len())),
        Err(outcome) => outcome,
    }
}

/// Puts `content` into the target, or gives the result that says why not.
pub(super) fn store(target: &Target, content: &str) -> Result<(), Outcome> {
    let path = target.path.display();
    match std::fs::metadata(&target.path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(Outcome::error(format!("not a regular file: {path}")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some(parent) = target.path.parent() {
                std::fs::create_dir_all(parent).map_err(|error| {
                    Outcome::error(format!("cannot create {}: {error}", parent.display()))
                })?;
            }
        }
        Err(error) => return Err(Outcome::error(format!("cannot write {path}: {error}"))),
    }
    std::fs::write(&target.path, content)
        .map_err(|error| Outcome::error(format!("cannot write {path}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_created_with_its_folders_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b.txt");
        assert_eq!(run(&Target::for_tests(&file), "one").text(), "ok\nwrote 3 bytes");
        assert_eq!(run(&Target::for_tests(&file), "").text(), "ok\nwrote 0 bytes");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
    }

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let text = run(&Target::for_tests(folder.path()), "x").text();
        assert!(text.starts_with("error: not a regular file: "), "{text}");
    }
}
