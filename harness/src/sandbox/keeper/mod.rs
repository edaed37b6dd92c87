//! The keeper: one small process for each run of a case.
//!
//! The harness starts its own executable as `conform keeper` with a socket as standard input. The
//! keeper has one thread, and so may do what the harness may not: change namespaces, adopt
//! orphans, reap every child.
//!
//! - **Nothing escapes.** It is the *subreaper* of everything below it: a process whose parent
//!   ends, however often it forked and whatever session it made, becomes the keeper's child and is
//!   found. When the socket closes, because the harness ended or died, all are killed.
//! - **Nothing leaks in.** A process gets the environment, folder and standard streams it was
//!   launched with and nothing else: its own session without a terminal, umask 022, no core
//!   files, default signal dispositions, an empty signal mask.
//! - **Nothing is reached.** With [`Isolation`](super::Isolation) the keeper sits in a network
//!   namespace with loopback alone. It binds the mock's listener there and hands it to the
//!   harness: a socket stays in the namespace in which it was made, so the mock serves inside the
//!   case's own network without a relay.
//! - **Nothing else changes.** With [`Files`](super::Files) the keeper sits in a mount namespace in
//!   which the case folder is the only place to write, and `/tmp` and its like are the run's own.
//!
//! The confinement is against accidents and runaway agents. An agent that runs as root can undo
//! it.
//!
//! **Leftovers.** A process counts as left over when no launched process that still runs is above
//! it and it is still there 500 ms after it was first looked for. The keeper does not sleep through
//! that time: it goes on as soon as the last of them has ended.

mod channel;
mod descendants;
mod handle;
mod message;
mod process;
mod program;
mod spawn;

pub use handle::{Keeper, KeeperOptions, SandboxError};
pub use process::{Command, ExitWatch, Process, Stdin};
pub use program::{is_asked_for, main};
