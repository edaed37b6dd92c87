//! A line of the record as it is written: [`Line`] by reference, so that no case is copied.

use serde::Serialize;

#[cfg(doc)]
use super::schema::Line;
use super::schema::{CaseRecord, Header, RunFinished};

/// [`Line`], borrowed. Both must have one form in JSON.
#[derive(Serialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub(super) enum LineRef<'a> {
    RunStarted(&'a Header),
    Case(&'a CaseRecord),
    RunFinished(&'a RunFinished),
}

impl LineRef<'_> {
    /// Puts the line, its newline included, at the end of `buffer`.
    pub(super) fn encode(&self, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(&mut *buffer, self)?;
        buffer.push(b'\n');
        Ok(())
    }
}
