//! `read`: the text of one file.

use std::{
    fs::File,
    io::{ErrorKind, Read},
};

use super::outcome::{OUTPUT_CAP, Outcome, capped};
use crate::workspace::Target;

/// Reads the file, up to the size cap. Anything but a regular file is refused before it is opened,
/// since opening a pipe would wait for its other end.
pub(super) fn run(target: &Target) -> Outcome {
    let path = target.path.display();
    let metadata = match std::fs::metadata(&target.path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Outcome::error(format!("not found: {path}"));
        }
        Err(error) => return Outcome::error(format!("cannot read {path}: {error}")),
    };
    if !metadata.is_file() {
        return Outcome::error(format!("not a regular file: {path}"));
    }
    let mut bytes = Vec::new();
    let read = File::open(&target.path)
        .and_then(|file| file.take(OUTPUT_CAP as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => {
            let length = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
            Outcome::ok(capped(&bytes, bytes.len().max(length)))
        }
        Err(error) => Outcome::error(format!("cannot read {path}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_missing_and_folder_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "hello\n").unwrap();
        let text = |name: &str| run(&Target::for_tests(folder.path().join(name))).text();
        assert_eq!(text("a"), "ok\nhello\n");
        assert!(text("b").starts_with("error: not found: "));
        assert!(text("").starts_with("error: not a regular file: "));
    }
}
