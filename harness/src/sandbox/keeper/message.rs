//! What harness and keeper say to each other.
//!
//! A message is a list of fields without NUL bytes (arguments, paths and environments hold none),
//! each followed by one; the first names the kind. Descriptors travel beside it.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use conform_reports::record::Exit;

/// Standard input, output and error of a process.
pub(super) type Stdio = [OwnedFd; 3];

/// From the harness to the keeper. (The end is the end of the socket.)
#[derive(Debug)]
pub(super) enum Request {
    /// Start a process.
    Launch {
        /// The harness's name for it.
        id: u32,
        /// What to start.
        command: LaunchCommand,
        /// Its streams.
        stdio: Stdio,
    },
    /// Name what is left over, then kill everything.
    Sweep,
}

/// A process to start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LaunchCommand {
    /// Path of the program.
    pub(super) program: Vec<u8>,
    /// Arguments, without the program's own name.
    pub(super) arguments: Vec<Vec<u8>>,
    /// `NAME=VALUE`, complete.
    pub(super) environment: Vec<Vec<u8>>,
    /// Working folder.
    pub(super) directory: Vec<u8>,
}

/// From the keeper to the harness.
#[derive(Debug)]
pub(super) enum Reply {
    /// The keeper is set up; here is the listener.
    Ready(OwnedFd),
    /// It could not be set up.
    Refused(String),
    /// A process runs.
    Started {
        /// The harness's name for it.
        id: u32,
        /// Process id.
        pid: i32,
    },
    /// A process could not be started.
    Failed {
        /// The harness's name for it.
        id: u32,
        /// What could not be done.
        stage: Stage,
        /// The error number.
        errno: i32,
    },
    /// A launched process ended.
    Exited {
        /// The harness's name for it.
        id: u32,
        /// How.
        exit: Exit,
    },
    /// Everything below the keeper is gone, but for `unkillable`.
    Swept {
        /// Names of what was left over.
        leftovers: Vec<String>,
        /// Names of what could not be killed.
        unkillable: Vec<String>,
    },
}

/// A step of starting a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Going to the working folder.
    Directory,
    /// Running the program.
    Program,
}

/// A message that the other side cannot have meant.
#[derive(Debug, thiserror::Error)]
#[error("unreadable message between harness and keeper: {0}; are both the same executable?")]
pub(super) struct MessageError(pub(super) &'static str);

/// The two directions.
pub(super) trait Message: Sized {
    /// The fields.
    fn fields(&self) -> Vec<Vec<u8>>;

    /// Reads the fields, taking the message's descriptors from the front of the queue.
    fn parse(fields: Fields<'_>, descriptors: &mut VecDeque<OwnedFd>)
    -> Result<Self, MessageError>;
}

/// Fields yet to be read.
#[derive(Debug)]
pub(super) struct Fields<'a>(pub(super) std::slice::Split<'a, u8, fn(&u8) -> bool>);

impl Fields<'_> {
    fn bytes(&mut self) -> Result<Vec<u8>, MessageError> {
        self.0.next().map(<[u8]>::to_vec).ok_or(MessageError("a field is missing"))
    }

    fn text(&mut self) -> Result<String, MessageError> {
        String::from_utf8(self.bytes()?).map_err(|_| MessageError("a field is not UTF-8"))
    }

    fn number<N: std::str::FromStr>(&mut self) -> Result<N, MessageError> {
        self.text()?.parse().map_err(|_| MessageError("a field is not a number"))
    }

    fn list<T>(
        &mut self,
        item: fn(&mut Self) -> Result<T, MessageError>,
    ) -> Result<Vec<T>, MessageError> {
        let count: usize = self.number()?;
        (0..count).map(|_| item(self)).collect()
    }
}

fn number(n: impl std::fmt::Display) -> Vec<u8> {
    n.to_string().into_bytes()
}

fn push_list(fields: &mut Vec<Vec<u8>>, items: impl ExactSizeIterator<Item = Vec<u8>>) {
    fields.push(number(items.len()));
    fields.extend(items);
}

impl Message for Request {
    fn fields(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Launch { id, command, stdio: _ } => {
                let mut fields = vec![
                    b"launch".to_vec(),
                    number(id),
                    command.program.clone(),
                    command.directory.clone(),
                ];
                push_list(&mut fields, command.arguments.iter().cloned());
                push_list(&mut fields, command.environment.iter().cloned());
                fields
            }
            Self::Sweep => vec![b"sweep".to_vec()],
        }
    }

    fn parse(
        mut fields: Fields<'_>,
        descriptors: &mut VecDeque<OwnedFd>,
    ) -> Result<Self, MessageError> {
        match fields.bytes()?.as_slice() {
            b"launch" => {
                let id = fields.number()?;
                let (program, directory) = (fields.bytes()?, fields.bytes()?);
                let arguments = fields.list(Fields::bytes)?;
                let environment = fields.list(Fields::bytes)?;
                let mut stream =
                    || descriptors.pop_front().ok_or(MessageError("a stream is missing"));
                let stdio = [stream()?, stream()?, stream()?];
                let command = LaunchCommand { program, arguments, environment, directory };
                Ok(Self::Launch { id, command, stdio })
            }
            b"sweep" => Ok(Self::Sweep),
            _ => Err(MessageError("unknown request")),
        }
    }
}

impl Message for Reply {
    fn fields(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Ready(_) => vec![b"ready".to_vec()],
            Self::Refused(why) => vec![b"refused".to_vec(), why.clone().into_bytes()],
            Self::Started { id, pid } => vec![b"started".to_vec(), number(id), number(pid)],
            Self::Failed { id, stage, errno } => {
                let kind: &[u8] = match stage {
                    Stage::Directory => b"no-directory",
                    Stage::Program => b"no-program",
                };
                vec![kind.to_vec(), number(id), number(errno)]
            }
            Self::Exited { id, exit } => {
                let (kind, value): (&[u8], i32) = match exit {
                    Exit::Status { status } => (b"status", *status),
                    Exit::Signal { signal } => (b"signal", *signal),
                    Exit::Killed => (b"killed", 0),
                    Exit::Unknown => (b"unknown", 0),
                };
                vec![b"exited".to_vec(), number(id), kind.to_vec(), number(value)]
            }
            Self::Swept { leftovers, unkillable } => {
                let mut fields = vec![b"swept".to_vec()];
                push_list(&mut fields, leftovers.iter().map(|name| name.clone().into_bytes()));
                push_list(&mut fields, unkillable.iter().map(|name| name.clone().into_bytes()));
                fields
            }
        }
    }

    fn parse(
        mut fields: Fields<'_>,
        descriptors: &mut VecDeque<OwnedFd>,
    ) -> Result<Self, MessageError> {
        match fields.bytes()?.as_slice() {
            b"ready" => descriptors
                .pop_front()
                .map(Self::Ready)
                .ok_or(MessageError("the listener is missing")),
            b"refused" => Ok(Self::Refused(fields.text()?)),
            b"started" => Ok(Self::Started { id: fields.number()?, pid: fields.number()? }),
            b"no-directory" => Ok(Self::Failed {
                id: fields.number()?,
                stage: Stage::Directory,
                errno: fields.number()?,
            }),
            b"no-program" => Ok(Self::Failed {
                id: fields.number()?,
                stage: Stage::Program,
                errno: fields.number()?,
            }),
            b"exited" => {
                let id = fields.number()?;
                let kind = fields.bytes()?;
                let value = fields.number()?;
                let exit = match kind.as_slice() {
                    b"status" => Exit::Status { status: value },
                    b"signal" => Exit::Signal { signal: value },
                    b"killed" => Exit::Killed,
                    _ => Exit::Unknown,
                };
                Ok(Self::Exited { id, exit })
            }
            b"swept" => Ok(Self::Swept {
                leftovers: fields.list(Fields::text)?,
                unkillable: fields.list(Fields::text)?,
            }),
            _ => Err(MessageError("unknown reply")),
        }
    }
}
