//! The session file: what a later run needs to go on. It holds no policy and no grant.

use std::{
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::history::History;

const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Stored {
    version: u32,
    session: String,
    history: History,
}

#[derive(Serialize)]
struct Storing<'a> {
    version: u32,
    session: &'a str,
    history: &'a History,
}

/// The session file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("cannot resume from {}: {reason}; start without --resume to begin anew", .file.display())]
    Load { file: PathBuf, reason: String },
    #[error("cannot write the session file {}: {source}; choose a writable place", .file.display())]
    Save { file: PathBuf, source: std::io::Error },
}

/// Reads id and history.
pub(super) fn load(file: &Path) -> Result<(String, History), StoreError> {
    let fail = |reason: String| StoreError::Load { file: file.to_owned(), reason };
    let bytes = std::fs::read(file).map_err(|error| fail(error.to_string()))?;
    let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| fail(error.to_string()))?;
    if stored.version != VERSION {
        return Err(fail(format!(
            "its version is {}, and this agent reads {VERSION}",
            stored.version
        )));
    }
    Ok((stored.session, stored.history))
}

/// Writes id and history; a reader sees the old file or the new one, never a half.
pub(super) fn save(file: &Path, session: &str, history: &History) -> Result<(), StoreError> {
    let write = || -> std::io::Result<()> {
        let bytes = serde_json::to_vec_pretty(&Storing { version: VERSION, session, history })?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut draft = file.as_os_str().to_owned();
        draft.push(".new");
        let mut out = std::fs::File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        out.write_all(&bytes)?;
        std::fs::rename(&draft, file)
    };
    write().map_err(|source| StoreError::Save { file: file.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::Origin;

    #[test]
    fn a_session_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.json");
        let mut history = History::default();
        history.push(Origin::Model, json!({ "z": 1, "a": [1.5, null] }));
        history.note_call("c1");
        save(&file, "lab-1", &history).unwrap();
        assert_eq!(load(&file).unwrap(), ("lab-1".to_owned(), history));
    }

    #[test]
    fn a_file_of_another_version_or_shape_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.json");
        assert!(matches!(load(&file), Err(StoreError::Load { .. })));
        std::fs::write(
            &file,
            r#"{"version":9,"session":"s","history":{"entries":[],"seen_calls":[]}}"#,
        )
        .unwrap();
        let error = load(&file).unwrap_err().to_string();
        assert!(error.contains("its version is 9"), "{error}");
    }
}
