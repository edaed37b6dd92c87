//! Agents: profiles, installation, and lowering to native calls.

pub mod profile;
