//! The file that takes what leaves memory.
//!
//! Two files without names: one holds the records, one after another; the other holds, for each
//! number, where its record begins (eight bytes, little-endian; 0 stands for no record). A record
//! is the length of its JSON (four bytes), the length of its body (eight bytes), the JSON and the
//! body, as it came.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::Bytes;

use super::Exchange;

/// Stands at the start of the records, so that none of them begins at 0.
const MAGIC: &[u8; 8] = b"journal1";

/// How long the two lengths before a record are.
const LENGTHS: usize = 12;

#[derive(Debug)]
pub(super) struct Spill {
    records: File,
    index: File,
    /// Where the next record begins.
    end: u64,
}

impl Spill {
    /// Makes the files in a folder.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let (records, index) = (tempfile::tempfile_in(folder)?, tempfile::tempfile_in(folder)?);
        records.write_all_at(MAGIC, 0)?;
        Ok(Self { records, index, end: MAGIC.len() as u64 })
    }

    /// Adds an exchange, in the place of the one that has its number, if there is one. When this
    /// fails, nothing was added.
    pub(super) fn write(&mut self, exchange: &Exchange) -> io::Result<()> {
        let json = serde_json::to_vec(exchange)?;
        let too_long = |_| io::Error::new(ErrorKind::InvalidInput, "it has too many headers");
        let json_length = u32::try_from(json.len()).map_err(too_long)?;
        let mut record = Vec::with_capacity(LENGTHS + json.len() + exchange.body.len());
        record.extend_from_slice(&json_length.to_le_bytes());
        record.extend_from_slice(&(exchange.body.len() as u64).to_le_bytes());
        record.extend_from_slice(&json);
        record.extend_from_slice(&exchange.body);
        self.records.write_all_at(&record, self.end)?;
        self.index.write_all_at(&self.end.to_le_bytes(), place(exchange.number))?;
        self.end += record.len() as u64;
        Ok(())
    }

    /// The exchange with this number, if it was added.
    pub(super) fn read(&self, number: u64) -> io::Result<Option<Exchange>> {
        let mut start = [0; 8];
        match self.index.read_exact_at(&mut start, place(number)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let start = u64::from_le_bytes(start);
        if start == 0 {
            return Ok(None);
        }
        let mut json_length = [0; 4];
        let mut body_length = [0; 8];
        self.records.read_exact_at(&mut json_length, start)?;
        self.records.read_exact_at(&mut body_length, start + 4)?;
        let json_length = u32::from_le_bytes(json_length) as usize;
        let too_long = |_| io::Error::new(ErrorKind::InvalidData, "its length is not possible");
        let body_length = usize::try_from(u64::from_le_bytes(body_length)).map_err(too_long)?;
        let json_start = start + LENGTHS as u64;
        let mut json = vec![0; json_length];
        let mut body = vec![0; body_length];
        self.records.read_exact_at(&mut json, json_start)?;
        self.records.read_exact_at(&mut body, json_start + json_length as u64)?;
        let mut exchange: Exchange = serde_json::from_slice(&json)?;
        exchange.body = Bytes::from(body);
        Ok(Some(exchange))
    }
}

/// Where the index says where a record begins.
fn place(number: u64) -> u64 {
    (number - 1) * 8
}
