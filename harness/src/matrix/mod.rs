//! Matrices: axes that multiply a scenario into cases.

mod load;
mod model;

pub use load::{load_file, load_paths};
pub use model::{AxisSpec, AxisValue, CellRule, Disposition, Exclusion, Matrix};
