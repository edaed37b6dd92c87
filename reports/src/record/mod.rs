//! The record: its schema, and reading and writing it.
//!
//! A record is a folder: `record.jsonl`, one [`Line`] a line, and `bodies/` with the native
//! request bodies that were kept.

mod clock;
mod error;
mod evidence;
mod line;
mod name;
mod read;
mod schema;
#[cfg(test)]
mod strategy;
mod verdict;
mod write;

pub use clock::now;
pub use error::RecordError;
pub use evidence::{
    ApprovalRecord, Exit, FileChange, FileChangeKind, OriginSighting, Placement, RequestRecord,
    RunEvidence, SegmentRecord, SinkRecord, Tokens,
};
pub use read::{Note, Record, read};
pub use schema::{
    AgentRef, CaseRecord, Header, Line, Location, Metrics, NotRun, RunFinished, SCHEMA, Tally,
    Timing, VariantName,
};
pub use verdict::{CheckRecord, CheckResult, ErrorKind, Finding, Layer, Severity, Verdict};
pub use write::Writer;
