//! The command line from end to end: what a user types, what is said, and what is left behind.

#![expect(clippy::unwrap_used, clippy::panic, reason = "in a test a panic is the report")]

mod agents;
mod bad_input;
mod baselines;
mod bisect;
mod doctor;
mod interrupts;
mod isolation;
mod outputs;
mod require;
mod runs;
mod support;
mod words;
