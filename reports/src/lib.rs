//! The run record of conform, and everything drawn from it.
//!
//! A run writes one [`record`]: JSON Lines, one line a case, appended as cases finish. Every report
//! (console, `JUnit`, later HTML and comparison) reads only that, so a report can be drawn again
//! from a record on disk. The [`gate`] turns a run into an exit status.

pub mod console;
pub mod gate;
pub mod junit;
pub mod record;
pub mod render;
#[cfg(test)]
mod sample;
pub mod summary;
pub mod tally;
