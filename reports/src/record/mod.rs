//! The record: its schema, and reading and writing it.

mod schema;

pub use schema::{
    AgentRef, ApprovalRecord, CaseRecord, CheckRecord, CheckResult, ErrorKind, Exit, FileChange,
    FileChangeKind, Finding, Header, Layer, Line, Location, Metrics, OriginSighting, Placement,
    RequestRecord, RunEvidence, RunFinished, SCHEMA, SegmentRecord, Severity, SinkRecord, Tally,
    Timing, Tokens, VariantName, Verdict,
};
