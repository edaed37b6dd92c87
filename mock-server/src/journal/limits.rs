//! How much of a journal stays in memory.

use std::path::PathBuf;

/// How much of a journal stays in memory, and where the rest goes.
///
/// When a limit is passed, the oldest exchanges whose answers have ended leave memory, until three
/// quarters of the limit are in use. An exchange whose answer still waits or is being written
/// always stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLimits {
    /// How many exchanges stay in memory.
    pub entries: usize,
    /// How many bytes of them stay in memory: bodies, parsed bodies and headers, estimated.
    pub bytes: u64,
    /// The folder for the file that takes what leaves memory. The file has no name, so it is gone
    /// with the journal. Without a folder, what leaves memory is dropped and counted.
    pub spill: Option<PathBuf>,
}

impl JournalLimits {
    /// No limit: for tests, which ask about each request they made.
    pub const NONE: Self = Self { entries: usize::MAX, bytes: u64::MAX, spill: None };
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self::NONE
    }
}

/// An exchange that cannot be looked at any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// It left memory and was not kept.
    #[error(
        "exchange {number} is no longer kept; raise the journal's limits, or give it a folder to \
         spill to"
    )]
    Dropped {
        /// Its number.
        number: u64,
    },
    /// It is in the file, which cannot be read.
    #[error("exchange {number} cannot be read back: {reason}")]
    Unreadable {
        /// Its number.
        number: u64,
        /// The system's reason, or what is wrong with the bytes.
        reason: String,
    },
}
