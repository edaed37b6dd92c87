//! The lab agent as a process, against a scripted model server.

#![cfg(test)]

mod defects;
mod dialogue;
mod exec;
mod support;
