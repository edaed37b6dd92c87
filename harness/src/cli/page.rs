//! What a command says on standard output.

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Context as _;

/// Lines that are printed together.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Adds a line.
    pub(crate) fn line(&mut self, line: impl Display) {
        self.0.push_str(&line.to_string());
        self.0.push('\n');
    }

    /// Prints all of it.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        print(&self.0)
    }
}

/// Prints text to standard output. A reader that has seen enough and went away is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// A count and its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
