//! How far a run is cut off from the network, and what this machine can do.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::keeper::{Keeper, KeeperOptions, SandboxError};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// A network of its own where the kernel allows one, else none; the outcome says why.
    #[default]
    Auto,
    /// The machine's network as it is.
    None,
    /// A network of its own, or an error.
    Strict,
}

impl Isolation {
    /// The names used on the command line.
    pub const NAMES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("none", Self::None), ("strict", Self::Strict)];
}

impl FromStr for Isolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("{text:?} is none of auto, none, strict"))
    }
}

/// What a run got. Its text is the `isolation` of the run record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IsolationOutcome {
    /// A network namespace of its own, with loopback alone.
    Network,
    /// The machine's network.
    None {
        /// Why there is no other.
        why: String,
    },
}

impl fmt::Display for IsolationOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network => f.write_str("network namespace"),
            Self::None { why } => write!(f, "none ({why})"),
        }
    }
}

/// Finds out what this machine can do, by doing it once.
///
/// A run of many cases asks once and then passes [`Isolation::Strict`] or [`Isolation::None`], so
/// that all its cases are confined alike.
///
/// # Errors
/// When not even a keeper without a network of its own can be started.
pub async fn probe(executable: Option<PathBuf>) -> Result<IsolationOutcome, SandboxError> {
    let options = KeeperOptions { isolation: Isolation::Auto, executable };
    let (keeper, _listener) = Keeper::start(options).await?;
    let outcome = keeper.isolation().clone();
    keeper.end().await?;
    Ok(outcome)
}
