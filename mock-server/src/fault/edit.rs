//! Changes of single events.

use std::time::Duration;

use bytes::Bytes;

use crate::script::{Edit, Event, Insert, Inserted};
use crate::wire::{Unfit, frame};

/// The frame that ends a Chat Completions stream.
const DONE: &[u8] = b"data: [DONE]\n\n";

/// A part of the body that is not cut by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The index of the event among those of the faultless reply; `None` for what was inserted.
    pub(super) origin: Option<usize>,
    pub(super) bytes: Bytes,
    /// How long the server waits before it.
    pub(super) wait: Option<Duration>,
}

/// The events of a reply, and what has become of them.
#[derive(Debug)]
pub(super) struct Pieces {
    original: Vec<Bytes>,
    pub(super) pieces: Vec<Piece>,
}

impl Pieces {
    /// The faultless events.
    pub(super) fn new(frames: Vec<Bytes>) -> Self {
        let piece = |(index, bytes): (usize, &Bytes)| Piece {
            origin: Some(index),
            bytes: bytes.clone(),
            wait: None,
        };
        let pieces = frames.iter().enumerate().map(piece).collect();
        Self { original: frames, pieces }
    }

    /// The place of the first piece of an event.
    pub(super) fn first(&self, event: &Event) -> Result<usize, Unfit> {
        let origin = frame::locate(&self.original, event)?;
        let place = self.pieces.iter().position(|piece| piece.origin == Some(origin));
        place.ok_or_else(|| left_out(origin))
    }

    /// The place of the last piece of an event.
    pub(super) fn last(&self, event: &Event) -> Result<usize, Unfit> {
        let origin = frame::locate(&self.original, event)?;
        let place = self.pieces.iter().rposition(|piece| piece.origin == Some(origin));
        place.ok_or_else(|| left_out(origin))
    }

    /// Makes one change.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn edit(&mut self, edit: &Edit) -> Result<(), Unfit> {
        match edit {
            Edit::Drop(event) => {
                let place = self.first(event)?;
                self.pieces.remove(place);
            }
            Edit::Repeat { event, times } => {
                let place = self.last(event)?;
                for _ in 0..*times {
                    self.pieces.insert(place + 1, self.pieces[place].clone());
                }
            }
            Edit::Swap(one, other) => {
                let (one, other) = (self.first(one)?, self.first(other)?);
                if one == other {
                    return Err(Unfit::because("`swap` names one event twice"));
                }
                self.pieces.swap(one, other);
            }
            Edit::Malformed { event, data } => {
                let place = self.first(event)?;
                let bytes = malformed(&self.pieces[place].bytes, data.as_deref());
                self.pieces[place].bytes = bytes;
            }
            Edit::Insert(insert) => self.insert(insert)?,
            Edit::SkipNumbers { from, by } => self.skip_numbers(from, *by)?,
            Edit::Terminator(true) => {
                if self.original.last().is_some_and(|frame| frame.as_ref() == DONE) {
                    return Err(Unfit::because("the stream ends with `[DONE]` as it is"));
                }
                let bytes = Bytes::from_static(DONE);
                self.pieces.push(Piece { origin: None, bytes, wait: None });
            }
            Edit::Terminator(false) => {
                let before = self.pieces.len();
                self.pieces.retain(|piece| piece.bytes.as_ref() != DONE);
                if self.pieces.len() == before {
                    return Err(Unfit::because("the stream has no `[DONE]` to leave out"));
                }
            }
        }
        Ok(())
    }

    fn insert(&mut self, insert: &Insert) -> Result<(), Unfit> {
        let Insert { before, what, times, every } = insert;
        let piece = Piece { origin: None, bytes: inserted(what), wait: *every };
        let many = || (0..*times).map(|_| piece.clone());
        if let Some(event) = before {
            let place = self.first(event)?;
            self.pieces.splice(place..place, many());
            return Ok(());
        }
        let before_each = |next: Piece| {
            let count = if next.origin.is_some() { *times } else { 0 };
            (0..count).map(|_| piece.clone()).chain(std::iter::once(next)).collect::<Vec<_>>()
        };
        self.pieces = std::mem::take(&mut self.pieces).into_iter().flat_map(before_each).collect();
        Ok(())
    }

    fn skip_numbers(&mut self, from: &Event, by: u64) -> Result<(), Unfit> {
        let place = self.first(from)?;
        for piece in &mut self.pieces[place..] {
            let Some(renumbered) = frame::renumbered(&piece.bytes, |old| old.saturating_add(by))
            else {
                return Err(Unfit::because("the events of this wire have no sequence numbers"));
            };
            piece.bytes = Bytes::from(renumbered);
        }
        Ok(())
    }
}

fn left_out(origin: usize) -> Unfit {
    Unfit(format!("event {} is left out by the fault itself", origin + 1))
}

/// An event, or a whole body, whose data is not what it should be.
fn malformed(bytes: &[u8], instead: Option<&str>) -> Bytes {
    let (name, data) = match frame::parts(bytes) {
        Some(parts) => (Some(parts.name), parts.data),
        None => (None, bytes),
    };
    // Half of an object is never JSON.
    let data = instead.map_or(&data[..data.len() / 2], str::as_bytes);
    Bytes::from(match name {
        Some(name) => frame::join(frame::Parts { name, data }),
        None => data.to_vec(),
    })
}

fn inserted(what: &Inserted) -> Bytes {
    let text = match what {
        Inserted::Comment { text, blank_line } => {
            format!(":{text}\n{}", if *blank_line { "\n" } else { "" })
        }
        Inserted::Event { name, data } => {
            let name = name.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
            format!("{name}data: {}\n\n", data.replace('\n', "\ndata: "))
        }
    };
    Bytes::from(text)
}
