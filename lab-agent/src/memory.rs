//! What an earlier session was asked to remember: one file in the agent's own folder.

use std::path::Path;

/// The file, below the agent's own folder.
const FILE: &str = "memory.md";

/// What is remembered; `None` when there is nothing.
pub(crate) fn load(state: &Path) -> Option<String> {
    let text = std::fs::read_to_string(state.join(FILE)).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_words_is_nothing_to_remember() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(load(folder.path()), None);
        std::fs::write(folder.path().join(FILE), " \n").unwrap();
        assert_eq!(load(folder.path()), None);
        std::fs::write(folder.path().join(FILE), "a fact\n").unwrap();
        assert_eq!(load(folder.path()).unwrap(), "a fact\n");
    }
}
