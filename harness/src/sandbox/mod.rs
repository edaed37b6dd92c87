//! The confinement of one run: fresh folders, and processes that cannot leave.

mod folder;

pub use folder::{CaseFolder, FolderError};
