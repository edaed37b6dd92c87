//! The console report: a line a case as cases finish, and what they come to at the end.
//!
//! The report goes to any [`Write`](std::io::Write); progress, where there is a terminal to show
//! it on, goes to standard error and leaves no trace.

mod bar;
mod ending;
mod options;
mod report;
mod table;

pub use options::{ConsoleOptions, Progress, StatusLevel, When};
pub use report::Console;
