//! The doctor: what works of an agent, and where its profile no longer describes it.
//!
//! It puts small cases to the agent, on the same road as any run, once for each driver and wire,
//! and reads their records.

mod cases;
mod examination;
mod examine;

pub use cases::{DoctorError, Question};
pub use examination::{Answer, Examination, LaunchExamination, TextFound};
pub use examine::examine;
