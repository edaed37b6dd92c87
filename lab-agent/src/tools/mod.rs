//! The five tools: what is offered, how a call is read, what it does, and what its result says.

mod action;
mod call;
mod edit;
mod offer;
mod outcome;
mod read;
mod shell;
mod spawn;
pub(crate) mod unoffered;
mod write;

pub(crate) use action::Action;
pub(crate) use call::ToolCall;
pub(crate) use offer::offered;
pub(crate) use outcome::{Outcome, Status};
pub(crate) use shell::{Shell, ShellEnvironment};
pub(crate) use spawn::{SPAWN, task_of};
