//! Reading a record back, whole or as far as it goes.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::RecordError;
use super::line::LineRef;
use super::schema::{AgentRef, CaseRecord, Header, Line, RunFinished, SCHEMA, Tally};
use super::write::FILE;

/// A record read from disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What the run set out to do.
    pub header: Header,
    /// The finished cases, in the order in which they finished.
    pub cases: Vec<CaseRecord>,
    /// The end of the run; `None` when the record was cut short.
    pub finished: Option<RunFinished>,
    /// What the reader of a report should be told about the record itself.
    pub notes: Vec<Note>,
}

/// Something about a record that its reports should say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The last line is incomplete and was left out.
    TornLine {
        /// Its number, from 1.
        line: usize,
    },
    /// The run did not reach its end.
    CutShort {
        /// Cases in the record.
        finished: usize,
        /// Cases that were selected.
        selected: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornLine { line } => {
                write!(f, "line {line} of the record is incomplete and was left out")
            }
            Self::CutShort { finished, selected } => write!(
                f,
                "the record was cut short: it holds {finished} of {selected} selected cases"
            ),
        }
    }
}

/// Reads the record at `path`, which is its folder or its `record.jsonl`.
///
/// Fields this version does not know are passed over. An incomplete last line, as a kill leaves
/// it, is left out and noted.
///
/// # Errors
/// There is no record, it cannot be read, it has another schema, or a complete line of it is not a
/// line of a record.
pub fn read(path: &Path) -> Result<Record, RecordError> {
    let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
    let open = File::open(&file).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => RecordError::Missing { path: path.to_owned() },
        _ => RecordError::Read { file: file.clone(), source },
    })?;
    let mut lines = LineReader { input: BufReader::new(open), file, number: 0 };
    let header = lines.header()?;
    let (mut cases, mut finished, mut notes) = (Vec::new(), None, Vec::new());
    while let Some(bytes) = lines.next_line()? {
        let line = match serde_json::from_slice(&bytes) {
            Ok(line) => line,
            Err(_) if !bytes.ends_with(b"\n") => {
                notes.push(Note::TornLine { line: lines.number });
                break;
            }
            Err(source) => return Err(lines.bad_line(source)),
        };
        match line {
            Line::Case(case) if finished.is_none() => cases.push(*case),
            Line::RunFinished(end) if finished.is_none() => finished = Some(end),
            Line::Case(_) => return Err(lines.out_of_place("case")),
            Line::RunFinished(_) => return Err(lines.out_of_place("run-finished")),
            Line::RunStarted(_) => return Err(lines.out_of_place("run-started")),
        }
    }
    if finished.is_none() {
        notes.push(Note::CutShort { finished: cases.len(), selected: header.cases });
    }
    Ok(Record { header, cases, finished, notes })
}

impl Record {
    /// The end of the run: as recorded, or, of a record that was cut short, what its cases come
    /// to, marked as interrupted.
    pub fn end(&self) -> RunFinished {
        self.finished.clone().unwrap_or_else(|| RunFinished {
            interrupted: true,
            tally: Tally::of(&self.cases),
            stale: Vec::new(),
            not_run: Vec::new(),
            duration_ms: self.cases.iter().filter_map(end_of_case).max().unwrap_or(0),
        })
    }

    /// The record without what differs between two runs that found the same: times and the number
    /// of jobs are taken out, and cases stand in the order of agent and id. Two such runs have one
    /// [`Record::to_jsonl`], byte for byte.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let mut cases = self.cases.clone();
        for case in &mut cases {
            case.timing = None;
        }
        cases.sort_by_cached_key(|case| {
            let AgentRef { driver, wire, .. } = &case.agent;
            (case.agent.to_string(), driver.clone(), wire.clone(), case.case.clone())
        });
        let finished = self.finished.clone().map(|mut finished| {
            finished.stale.sort();
            RunFinished { duration_ms: 0, ..finished }
        });
        let header = Header { started: String::new(), jobs: 0, ..self.header.clone() };
        Self { header, cases, finished, notes: self.notes.clone() }
    }

    /// The record as the text of a `record.jsonl`.
    ///
    /// # Errors
    /// A value has no JSON form.
    pub fn to_jsonl(&self) -> Result<String, serde_json::Error> {
        let mut text = Vec::new();
        LineRef::RunStarted(&self.header).encode(&mut text)?;
        for case in &self.cases {
            LineRef::Case(case).encode(&mut text)?;
        }
        if let Some(finished) = &self.finished {
            LineRef::RunFinished(finished).encode(&mut text)?;
        }
        String::from_utf8(text).map_err(serde::ser::Error::custom)
    }
}

/// Milliseconds from the start of the run to the end of the case.
fn end_of_case(case: &CaseRecord) -> Option<u64> {
    case.timing.map(|timing| timing.started_ms.saturating_add(timing.duration_ms))
}

/// The lines of a file as bytes: a cut may go through a character.
struct LineReader {
    input: BufReader<File>,
    file: PathBuf,
    number: usize,
}

/// As much of the first line as every schema has.
#[derive(Deserialize)]
struct FirstLine {
    line: String,
    schema: u64,
    #[serde(default)]
    conform: Option<String>,
}

impl LineReader {
    fn header(&mut self) -> Result<Header, RecordError> {
        let bytes = self.next_line()?.filter(|bytes| bytes.ends_with(b"\n"));
        let Some(bytes) = bytes else {
            return Err(RecordError::NoHeader { file: self.file.clone() });
        };
        let first: FirstLine = serde_json::from_slice(&bytes)
            .map_err(|_| RecordError::NotARecord { file: self.file.clone() })?;
        if first.line != "run-started" {
            return Err(RecordError::NotARecord { file: self.file.clone() });
        }
        if first.schema != u64::from(SCHEMA) {
            return Err(RecordError::Schema {
                file: self.file.clone(),
                found: first.schema,
                writer: first.conform.unwrap_or_else(|| "of an unknown version".to_owned()),
            });
        }
        serde_json::from_slice(&bytes).map_err(|source| self.bad_line(source))
    }

    fn next_line(&mut self) -> Result<Option<Vec<u8>>, RecordError> {
        let mut bytes = Vec::new();
        let read = self
            .input
            .read_until(b'\n', &mut bytes)
            .map_err(|source| RecordError::Read { file: self.file.clone(), source })?;
        self.number += 1;
        Ok((read > 0).then_some(bytes))
    }

    fn bad_line(&self, source: serde_json::Error) -> RecordError {
        RecordError::Line { file: self.file.clone(), line: self.number, source }
    }

    fn out_of_place(&self, kind: &'static str) -> RecordError {
        RecordError::OutOfPlace { file: self.file.clone(), line: self.number, kind }
    }
}

#[cfg(test)]
mod tests;
