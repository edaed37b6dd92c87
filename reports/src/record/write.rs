//! Writing a record while the run goes on.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::RecordError;
use super::line::LineRef;
use super::name::file_name;
use super::schema::{AgentRef, CaseRecord, Header, RunFinished, VariantName};

/// Name of the record in its folder.
pub(super) const FILE: &str = "record.jsonl";
/// Folder of the request bodies beside it.
const BODIES: &str = "bodies";

/// A record being written: `record.jsonl` with one line a case, and `bodies/` beside it.
///
/// Each line goes to the disk whole and is synced before the call returns: a crash, a kill or a
/// power cut loses at most the line being written.
///
/// A run must not die of its record. The first line that cannot be written is returned as an
/// error; after that the file is left alone, further calls do nothing and count in
/// [`Writer::lost`], and no last line is written, so that the record reads as cut short and never
/// as complete.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    file: PathBuf,
    lines: Lines,
    bodies: Bodies,
    buffer: Vec<u8>,
    lost: usize,
}

/// What can still be done with the lines.
#[derive(Debug)]
enum Lines {
    Open(File),
    /// A write failed, and was reported.
    Broken,
    Finished,
}

/// What can still be done with the bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bodies {
    Open,
    /// A write failed, and was reported.
    Broken,
}

impl Writer {
    /// Starts the record of a run in `folder`, which is made if need be, and writes its first
    /// line.
    ///
    /// # Errors
    /// The folder cannot be made or written to, or holds a record already.
    pub fn create(folder: &Path, header: &Header) -> Result<Self, RecordError> {
        let fail = |source| RecordError::Create { folder: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(fail)?;
        let file = folder.join(FILE);
        let open = match File::options().append(true).create_new(true).open(&file) {
            Ok(open) => open,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(RecordError::Occupied { file });
            }
            Err(error) => return Err(fail(error)),
        };
        // The name of the new file must outlive a power cut as well as its lines do.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)?;
        let mut writer = Self {
            folder: folder.to_owned(),
            file,
            lines: Lines::Open(open),
            bodies: Bodies::Open,
            buffer: Vec::new(),
            lost: 0,
        };
        writer.line(&LineRef::RunStarted(header))?;
        Ok(writer)
    }

    /// The file being written.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// How many cases are not in the record, because of a write that failed and was reported.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Adds a finished case.
    ///
    /// # Errors
    /// The line could not be written. This is said once; see [`Writer`].
    pub fn case(&mut self, case: &CaseRecord) -> Result<(), RecordError> {
        let written = self.line(&LineRef::Case(case));
        if written.is_err() || matches!(self.lines, Lines::Broken) {
            self.lost += 1;
        }
        written
    }

    /// Keeps the native body of request `number` beside the record, and returns its path relative
    /// to the record's folder, for `RequestRecord::body`. A body stored twice is replaced.
    ///
    /// `None` means that it was not kept, because of a failure that has been reported. Bodies that
    /// cannot be kept do not stop the lines.
    ///
    /// # Errors
    /// The body could not be written. This is said once.
    pub fn body(
        &mut self,
        agent: &AgentRef,
        case: &str,
        variant: VariantName,
        number: u64,
        body: &Value,
    ) -> Result<Option<String>, RecordError> {
        if matches!(self.lines, Lines::Broken) || self.bodies == Bodies::Broken {
            return Ok(None);
        }
        let agent = file_name(&format!("{agent}-{}-{}", agent.driver, agent.wire));
        let path = format!("{BODIES}/{agent}/{}/{variant}-{number:03}.json", file_name(case));
        let file = self.folder.join(&path);
        match self.keep(&file, body) {
            Ok(()) => Ok(Some(path)),
            Err(error) => {
                self.bodies = Bodies::Broken;
                Err(error)
            }
        }
    }

    /// Writes the last line. A record without it reads as cut short.
    ///
    /// # Errors
    /// The line could not be written, or was written before.
    pub fn finish(&mut self, finished: &RunFinished) -> Result<(), RecordError> {
        self.line(&LineRef::RunFinished(finished))?;
        if matches!(self.lines, Lines::Open(_)) {
            self.lines = Lines::Finished;
        }
        Ok(())
    }

    fn line(&mut self, line: &LineRef<'_>) -> Result<(), RecordError> {
        let open = match &mut self.lines {
            Lines::Open(open) => open,
            Lines::Broken => return Ok(()),
            Lines::Finished => return Err(RecordError::Finished { file: self.file.clone() }),
        };
        self.buffer.clear();
        let written = match line.encode(&mut self.buffer) {
            Ok(()) => open
                .write_all(&self.buffer)
                .and_then(|()| open.sync_data())
                .map_err(|source| RecordError::Write { file: self.file.clone(), source }),
            Err(source) => Err(RecordError::Encode { file: self.file.clone(), source }),
        };
        if written.is_err() {
            // Part of a line may stand at the end now. Nothing is ever put behind it.
            self.lines = Lines::Broken;
        }
        written
    }

    fn keep(&mut self, file: &Path, body: &Value) -> Result<(), RecordError> {
        self.buffer.clear();
        serde_json::to_writer_pretty(&mut self.buffer, body)
            .map_err(|source| RecordError::Encode { file: file.to_owned(), source })?;
        self.buffer.push(b'\n');
        let parent = file.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(file, &self.buffer))
            .map_err(|source| RecordError::Write { file: file.to_owned(), source })
    }
}

#[cfg(test)]
mod tests;
