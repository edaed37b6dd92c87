//! Matrices: axes that multiply a scenario into cases.

mod cell;
mod load;
mod model;
mod parse;

pub use cell::{Fate, MatrixCell};
pub use load::{load_file, load_paths, load_source};
pub use model::{AxisSpec, AxisValue, CellRule, Disposition, Exclusion, Matrix};
