//! The record: its schema, and reading and writing it.
//!
//! A record is a folder: `record.jsonl`, one [`Line`] a line, and `bodies/` with the native
//! request bodies that were kept.

mod clock;
mod error;
mod line;
mod name;
mod read;
mod schema;
#[cfg(test)]
mod strategy;
mod write;

pub use clock::now;
pub use error::RecordError;
pub use read::{Note, Record, read};
pub use schema::{
    AgentRef, ApprovalRecord, CaseRecord, CheckRecord, CheckResult, ErrorKind, Exit, FileChange,
    FileChangeKind, Finding, Header, Layer, Line, Location, Metrics, OriginSighting, Placement,
    RequestRecord, RunEvidence, RunFinished, SCHEMA, SegmentRecord, Severity, SinkRecord, Tally,
    Timing, Tokens, VariantName, Verdict,
};
pub use write::Writer;
