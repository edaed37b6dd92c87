//! Starting one process inside the keeper.

use std::ffi::{CString, NulError};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use nix::unistd::{Pid, chdir};

use super::message::{LaunchCommand, Stage, Stdio};

/// `POSIX_SPAWN_SETSID` of glibc and musl, which nix does not name: a session of its own.
const SET_SESSION: PosixSpawnFlags = PosixSpawnFlags::from_bits_retain(0x80);

/// Starts a process in a session and process group of its own, with default signal dispositions,
/// an empty signal mask and no descriptors but its streams (all others are close-on-exec).
///
/// # Errors
/// The step that failed, and why.
pub(super) fn spawn(command: LaunchCommand, stdio: &Stdio) -> Result<Pid, (Stage, Errno)> {
    // The keeper has one thread, so its own working folder may stand in for the child's.
    chdir(command.directory.as_slice()).map_err(|errno| (Stage::Directory, errno))?;
    let spawned = spawn_here(command, stdio).map_err(|errno| (Stage::Program, errno));
    chdir("/").map_err(|errno| (Stage::Directory, errno))?;
    spawned
}

fn spawn_here(command: LaunchCommand, stdio: &Stdio) -> Result<Pid, Errno> {
    let mut actions = PosixSpawnFileActions::init()?;
    for (stream, target) in stdio.iter().zip(0..) {
        actions.add_dup2(stream.as_raw_fd(), target)?;
    }
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::empty())?;
    attributes.set_flags(
        PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK
            | SET_SESSION,
    )?;
    let no_nul = |_: NulError| Errno::EINVAL;
    let program = CString::new(command.program).map_err(no_nul)?;
    let mut arguments = vec![program.clone()];
    for argument in command.arguments {
        arguments.push(CString::new(argument).map_err(no_nul)?);
    }
    let environment = command
        .environment
        .into_iter()
        .map(CString::new)
        .collect::<Result<Vec<_>, _>>()
        .map_err(no_nul)?;
    posix_spawn(program.as_c_str(), &actions, &attributes, &arguments, &environment)
}
