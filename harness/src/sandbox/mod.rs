//! The confinement of one run: fresh folders, and processes that cannot leave.
//!
//! Every run has a *keeper* (see [`keeper`]): a small process between the harness and the agent
//! that owns the run's network and every process the agent ever starts. Linux only.

mod files;
mod folder;
mod isolation;
pub mod keeper;
mod network;

pub use files::Files;
pub use folder::{CaseFolder, FolderError};
pub use isolation::{Isolation, IsolationOutcome, probe};
pub use keeper::{Command, ExitWatch, Keeper, KeeperOptions, Process, SandboxError, Stdin};
