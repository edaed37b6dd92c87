//! Scenarios: what is tested, in words that name no agent.

mod expectation;
mod files;
mod load;
mod model;
mod parse;
mod step;
mod text;

pub use expectation::{ExitExpectation, ExpectKind, ExpectSpec, FilesExpectation, ResultClass};
pub(crate) use files::{Reading, read_documents, read_source};
pub use load::{Loaded, load_file, load_paths, load_source};
pub use model::{
    Approver, Capability, ControlSpec, FileSpec, Fragment, LogicalCall, Network, Policy,
    ReportedUsage, Scenario, TurnFault, TurnKind, TurnSpec, When, Zone,
};
pub(crate) use parse::{
    AxisNames, Parser, Slots, check_when, is_word, undeclared_secret, undefined_variable,
};
pub use step::{InterjectionSpec, Moment, Said, Step, numbered};
pub use text::{LateVariable, Piece, Text};
