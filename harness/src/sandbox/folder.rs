//! The fresh folders of one run.

use std::path::{Path, PathBuf};

use crate::scenario::Zone;

/// The folders of one run; removed when dropped, unless kept.
#[derive(Debug)]
pub struct CaseFolder {
    root: tempfile::TempDir,
}

/// The folders could not be made.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot make the case folder below {parent}: {source}; free some space or point TMPDIR elsewhere"
)]
pub struct FolderError {
    parent: String,
    source: std::io::Error,
}

impl CaseFolder {
    /// Makes the folders below `parent`.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn create(parent: &Path) -> Result<Self, FolderError> {
        let fail = |source| FolderError { parent: parent.display().to_string(), source };
        let root = tempfile::Builder::new().prefix("conform-").tempdir_in(parent).map_err(fail)?;
        for zone in Zone::ALL {
            std::fs::create_dir(root.path().join(zone.name())).map_err(fail)?;
        }
        Ok(Self { root })
    }

    /// Leaves the folders where they are when this is dropped.
    pub fn keep(&mut self) {
        self.root.disable_cleanup(true);
    }

    /// The folder that holds all of them.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The folder of a zone.
    pub fn zone(&self, zone: Zone) -> PathBuf {
        self.root.path().join(zone.name())
    }
}
