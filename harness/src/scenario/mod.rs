//! Scenarios: what is tested, in words that name no agent.

mod load;
mod model;
mod text;

pub use load::{Loaded, load_file, load_paths};
pub use model::{
    Approver, Capability, ControlSpec, ExitExpectation, ExpectKind, ExpectSpec, FileSpec,
    FilesExpectation, Fragment, LogicalCall, Network, Policy, Scenario, Step, TurnKind, TurnSpec,
    When, Zone,
};
pub use text::{LateVariable, Piece, Text};
