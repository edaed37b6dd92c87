//! Installed agents: versions side by side in a cache folder.
//!
//! `agents/NAME/VERSION` below the cache holds one version of one agent, as its package manager
//! laid it out, and `installed.json`, which says what it is. A version is there whole or not at
//! all: it is fetched into a folder beside it and renamed. What runs the agents' scripts stands in
//! `agents/.runtimes`, shared by all.

mod error;
mod manifest;
mod npm;
mod path;
mod pattern;
mod pip;
mod published;
mod store;

pub use error::InstallError;
pub use manifest::{Installed, Origin};
pub use published::Published;
pub use store::{Listed, Progress, Store};
