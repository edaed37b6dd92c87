//! Cases: one scenario in one cell of its matrix, with every text expanded.

mod expand;
mod late;
mod marker;
mod model;

pub use expand::{Expansion, Skipped, expand};
pub use late::{LatePiece, LateText, Places};
pub use marker::{marker_token, secret_token};
pub use model::{
    Case, CaseCall, CaseFile, CaseStep, CaseTurn, CaseTurnKind, Expectation, Origin, OriginSource,
    Secret, Variant,
};
