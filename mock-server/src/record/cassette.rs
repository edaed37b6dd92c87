//! The script being written: replies in the order in which their requests arrived, and after them
//! the connections, in the order in which they were asked for.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::script::{Handshake, Reply, connection_of, turn_of};

/// What the file begins with.
const HEAD: &str = "\
# Recorded from a real service. Requests are not in it, nor headers but those of a WebSocket's
# handshake that say how it goes on, and what looks like a secret was replaced by [redacted]: look it
# over all the same before you share it.
";

/// What is to be written for one request.
#[derive(Debug)]
pub(super) enum Entry {
    /// A turn; and what the real reply held that a script cannot say.
    Turn { about: String, reply: Reply, left_out: Vec<String> },
    /// No turn, and why.
    Gap { about: String, reason: String },
    /// Nothing: the request was not for the model.
    Nothing,
}

/// The file.
#[derive(Debug)]
pub(super) struct Cassette {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// How many requests have arrived.
    arrived: u64,
    /// How many of them are written.
    written: u64,
    /// Those that wait until an earlier one is known.
    waiting: BTreeMap<u64, Entry>,
    /// Each connection that was asked for.
    connections: Vec<Connection>,
    figures: Figures,
    /// The first failure to write.
    failure: Option<io::Error>,
}

/// How a client's wish for a connection was answered.
#[derive(Debug, Clone, Default, PartialEq)]
struct Connection {
    handshake: Handshake,
    about: String,
    /// What the real answer held that a script cannot say.
    left_out: Vec<String>,
}

/// What was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) turns: usize,
    /// Each reply or part of one that is not in the script.
    pub(super) missing: Vec<String>,
}

impl Cassette {
    /// Makes the file; one that exists is replaced only if `replace` says so.
    pub(super) fn create(path: &Path, replace: bool) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true);
        if replace {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        let mut file = options.open(path)?;
        file.write_all(HEAD.as_bytes())?;
        let inner = Inner {
            file,
            arrived: 0,
            written: 0,
            waiting: BTreeMap::new(),
            connections: Vec::new(),
            figures: Figures::default(),
            failure: None,
        };
        Ok(Self { inner: Mutex::new(inner) })
    }

    /// A request arrives; its number keeps its place.
    pub(super) fn arrive(&self) -> u64 {
        let mut inner = self.lock();
        inner.arrived += 1;
        inner.arrived
    }

    /// What is to be written for a request is known.
    pub(super) fn finish(&self, number: u64, entry: Entry) {
        let mut inner = self.lock();
        inner.waiting.insert(number, entry);
        loop {
            let next = inner.written + 1;
            let Some(entry) = inner.waiting.remove(&next) else { return };
            inner.written = next;
            inner.write(&entry);
        }
    }

    /// A client asks for a connection; its index keeps its place.
    pub(super) fn ask(&self) -> usize {
        let mut inner = self.lock();
        inner.connections.push(Connection::default());
        inner.connections.len() - 1
    }

    /// It is known how the wish for a connection was answered. Until then it counts as let in.
    pub(super) fn answered(
        &self,
        index: usize,
        handshake: Handshake,
        about: String,
        left_out: Vec<String>,
    ) {
        if let Some(connection) = self.lock().connections.get_mut(index) {
            *connection = Connection { handshake, about, left_out };
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first failure to write, whenever it was.
    pub(super) fn end(&self) -> io::Result<Figures> {
        let mut inner = self.lock();
        // A request that never came to an end holds none back.
        for entry in std::mem::take(&mut inner.waiting).into_values() {
            inner.write(&entry);
        }
        if inner.figures.turns == 0 {
            inner.put("turns: []\n");
        }
        inner.write_connections();
        match inner.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(inner.figures.clone()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Each step leaves the file as a whole number of entries.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn write(&mut self, entry: &Entry) {
        match entry {
            Entry::Turn { about, reply, left_out } => {
                if self.figures.turns == 0 {
                    self.put("turns:\n");
                }
                self.figures.turns += 1;
                self.put(&format!("  # {}\n", one_line(about)));
                for part in left_out {
                    self.put(&format!("  # left out: {}\n", one_line(part)));
                    self.figures.missing.push(format!("{about}: {part}"));
                }
                self.put(&turn_of(reply));
            }
            Entry::Gap { about, reason } => {
                self.put(&format!("  # {}: not recorded: {}\n", one_line(about), one_line(reason)));
                self.figures.missing.push(format!("{about}: {reason}"));
            }
            Entry::Nothing => {}
        }
    }

    /// Writes the connections up to the last of which there is something to say.
    fn write_connections(&mut self) {
        let connections = std::mem::take(&mut self.connections);
        let is_plain = |connection: &Connection| connection.handshake == Handshake::default();
        let Some(last) = connections.iter().rposition(|connection| !is_plain(connection)) else {
            return;
        };
        self.put("connections:\n");
        for Connection { handshake, about, left_out } in &connections[..=last] {
            for part in left_out {
                self.put(&format!("  # left out: {}\n", one_line(part)));
                self.figures.missing.push(format!("{about}: {part}"));
            }
            self.put(&connection_of(handshake));
        }
    }

    fn put(&mut self, text: &str) {
        if self.failure.is_none()
            && let Err(failure) = self.file.write_all(text.as_bytes())
        {
            self.failure = Some(failure);
        }
    }
}

/// A text as a comment can hold it.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
