//! Cases: one scenario in one cell of its matrix, with every text expanded.

mod build;
mod expand;
mod expectation;
mod fill;
mod findings;
mod late;
mod marker;
mod merge;
mod model;
mod plan;
mod plant;
mod step;
mod steps;

pub use expand::{Expansion, Skipped, expand};
pub use late::{LatePiece, LateText, Places};
pub use marker::{marker_token, secret_token};
pub use model::{
    Case, CaseCall, CaseFile, CaseTurn, CaseTurnKind, Expectation, Origin, OriginSource, Secret,
    Variant,
};
pub use step::{CaseInterjection, CaseStep};
