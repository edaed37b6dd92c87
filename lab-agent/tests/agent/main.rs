//! The lab agent as a process, against a scripted model server.

mod exec;
mod support;
