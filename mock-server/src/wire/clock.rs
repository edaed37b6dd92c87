//! The time of every reply: a clock would make two runs differ.

/// Every reply is made at this moment, in Unix seconds.
pub(super) const CREATED_AT: u64 = 1_767_225_600;

/// The same moment as a timestamp (RFC 3339).
pub(super) const CREATED_AT_TEXT: &str = "2026-01-01T00:00:00Z";
