//! Running cases: each in a session of its own, several at once, into one record.

mod baseline;
mod case;
mod course;
mod pool;
mod session;
mod subject;
mod work;

pub use baseline::{Baseline, BaselineError, Entry};
pub use pool::{Body, Finished, Kept, Options, RunError, run};
pub use subject::{Subject, SubjectError, SubjectName};
