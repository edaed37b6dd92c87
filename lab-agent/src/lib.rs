//! The lab agent.

mod approval;
mod cli;
mod defect;
mod dialogue;
mod events;
mod frames;
mod history;
mod policy;
mod readonly;
mod request;
mod rules;
mod session;
mod settings;
mod tools;
mod wire;
mod workspace;

pub use cli::main;
pub use defect::{Card, Defect, Layer, UnknownDefect};
