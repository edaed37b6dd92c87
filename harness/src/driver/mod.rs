//! Drivers: the ways to talk to an agent.

mod dialogue;

pub use dialogue::{Approval, Dialogue, DriverKind, TurnOutcome};
