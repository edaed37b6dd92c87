//! Agents: profiles, installation, and lowering to native calls.

pub mod install;
pub mod profile;
