//! How far a run is cut off from the network and the files of the machine, and what this machine
//! can do.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::files::Files;
use super::keeper::{Keeper, KeeperOptions, SandboxError};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// As much as the kernel allows; the outcome says why it is not all.
    #[default]
    Auto,
    /// The machine's network and files as they are.
    None,
    /// A network of its own, or an error; the machine's files as they are.
    Network,
    /// A network and a view of the files of its own, or an error.
    Strict,
}

impl Isolation {
    /// The names used on the command line.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("auto", Self::Auto),
        ("none", Self::None),
        ("network", Self::Network),
        ("strict", Self::Strict),
    ];
}

impl FromStr for Isolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("{text:?} is none of auto, none, network, strict"))
    }
}

/// What a run got. Its text is the `isolation` of the run record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IsolationOutcome {
    /// A network namespace of its own, with loopback alone, and files of which its case folder
    /// alone can be changed.
    Whole,
    /// The network of its own, the files of the machine.
    Network {
        /// Why the files are the machine's.
        why: String,
    },
    /// The machine's network.
    None {
        /// Why there is no other.
        why: String,
    },
}

impl IsolationOutcome {
    /// What asks for the same, or for an error.
    pub fn again(&self) -> Isolation {
        match self {
            Self::Whole => Isolation::Strict,
            Self::Network { .. } => Isolation::Network,
            Self::None { .. } => Isolation::None,
        }
    }
}

impl fmt::Display for IsolationOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("network namespace, files outside of the case read-only"),
            Self::Network { why } => write!(f, "network namespace, files as they are ({why})"),
            Self::None { why } => write!(f, "none ({why})"),
        }
    }
}

/// Finds out what this machine can do, by doing it once.
///
/// A run of many cases asks once and then passes [`IsolationOutcome::again`], so that all its cases
/// are confined alike. `case` is a folder in which cases are made.
///
/// # Errors
/// When not even a keeper without a network of its own can be started.
pub async fn probe(
    executable: Option<PathBuf>,
    case: PathBuf,
) -> Result<IsolationOutcome, SandboxError> {
    let needed = executable.iter().cloned().collect();
    let files = Some(Files { case, needed });
    let options = KeeperOptions { isolation: Isolation::Auto, executable, files };
    let (keeper, _listener) = Keeper::start(options).await?;
    let outcome = keeper.isolation().clone();
    keeper.end().await?;
    Ok(outcome)
}
