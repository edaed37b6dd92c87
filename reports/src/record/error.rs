//! What can go wrong with a record on disk.

use std::io;
use std::path::PathBuf;

use super::schema::SCHEMA;

/// A record could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder of a new record could not be made or written to.
    #[error(
        "cannot start a record in {}: {source}; name a folder that can be written to",
        folder.display()
    )]
    Create {
        /// The folder asked for.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder holds an earlier record, which is never written over.
    #[error(
        "{} is the record of an earlier run; name another folder, or move that record away",
        file.display()
    )]
    Occupied {
        /// The record found.
        file: PathBuf,
    },
    /// A line or body did not reach the disk.
    #[error(
        "cannot write {}: {source}; what was written before is safe, nothing more is written \
         there; make room and run again",
        file.display()
    )]
    Write {
        /// The file concerned.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A value of the record has no JSON form.
    #[error("cannot put a line for {} into JSON: {source}; please report this", file.display())]
    Encode {
        /// The file it was meant for.
        file: PathBuf,
        /// What the serializer said.
        source: serde_json::Error,
    },
    /// Something was to be added to a record that had its last line already.
    #[error("{} is finished; nothing can be added to it", file.display())]
    Finished {
        /// The record.
        file: PathBuf,
    },
    /// There is no record at the path.
    #[error(
        "no record at {}; name the folder of a run, or its record.jsonl",
        path.display()
    )]
    Missing {
        /// The path that was tried.
        path: PathBuf,
    },
    /// The record exists and cannot be read.
    #[error("cannot read {}: {source}; check that the file may be read", file.display())]
    Read {
        /// The record.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file ends before its first line does.
    #[error(
        "{} ends before its first line does, so it holds no case; run again",
        file.display()
    )]
    NoHeader {
        /// The record.
        file: PathBuf,
    },
    /// The first line is not that of a record.
    #[error(
        "{} is not a run record: its first line should be a `run-started` line with a schema \
         number; name the record.jsonl of a run",
        file.display()
    )]
    NotARecord {
        /// The file.
        file: PathBuf,
    },
    /// The record was written under another schema.
    #[error(
        "{} has schema {found}, written by conform {writer}; this conform reads schema {SCHEMA}; \
         read it with the version that wrote it",
        file.display()
    )]
    Schema {
        /// The record.
        file: PathBuf,
        /// Its schema number.
        found: u64,
        /// The version of conform that wrote it.
        writer: String,
    },
    /// A complete line is not a line of a record.
    #[error(
        "{}:{line}: not a line of a run record: {source}; the file was altered or damaged, run \
         again or restore it",
        file.display()
    )]
    Line {
        /// The record.
        file: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// A line stands where it cannot: a second first line, or one after the last.
    #[error(
        "{}:{line}: a `{kind}` line cannot stand here; two records were joined or the file was \
         altered, restore it",
        file.display()
    )]
    OutOfPlace {
        /// The record.
        file: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The line's kind.
        kind: &'static str,
    },
}
