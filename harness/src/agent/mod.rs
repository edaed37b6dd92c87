//! Agents: profiles, installation, and lowering to native calls.

pub mod install;
pub mod launch;
pub mod lower;
pub mod profile;
pub mod registry;
pub mod template;
