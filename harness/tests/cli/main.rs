//! The command line from end to end: what a user types, what is said, and what is left behind.

mod agents;
mod bad_input;
mod baselines;
mod interrupts;
mod outputs;
mod runs;
mod support;
mod words;
