//! Checks: the evidence judged against expectations and invariants.
//!
//! [`applicability`] says before a run whether a case can be asked of an agent at all; [`judge`]
//! gives the verdict afterwards. Invariants hold in every request of every case, expectations are
//! those of the scenario. A verdict is never a pass unless everything that had to be reached was
//! reached and the control showed the effect.

mod applicability;
mod expectation;
mod invariant;
mod judge;
mod ledger;
mod run;
mod trouble;

#[cfg(test)]
pub(crate) mod fixture;

pub use applicability::{SkipReason, applicability};
pub use expectation::name as expectation_name;
pub use judge::{Judgement, judge};
pub use run::Bench;
