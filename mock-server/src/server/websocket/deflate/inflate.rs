//! Making one side's messages plain again.

use flate2::{Decompress, FlushDecompress, Status};

use super::{TAIL, Violation};

/// How much room is made at once for what is made plain.
const ROOM: usize = 16 * 1024;

/// What one side compresses, message after message.
#[derive(Debug)]
pub(super) struct Inflate {
    stream: Decompress,
    /// Whether each message stands by itself.
    forgets: bool,
    /// The most bytes that a message may have.
    limit: usize,
}

impl Inflate {
    pub(super) fn new(forgets: bool, limit: usize) -> Self {
        Self { stream: Decompress::new(false), forgets, limit }
    }

    /// Adds to a message what the next part of it stands for.
    pub(super) fn part(&mut self, mut part: &[u8], plain: &mut Vec<u8>) -> Result<(), Violation> {
        loop {
            // One byte more than allowed, so that a message which is too long shows.
            plain.reserve(ROOM.min(self.limit + 1 - plain.len()));
            let (taken, given) = (self.stream.total_in(), plain.len());
            let status = self
                .stream
                .decompress_vec(part, plain, FlushDecompress::None)
                .map_err(|_| Violation::BadData)?;
            let taken = usize::try_from(self.stream.total_in() - taken).unwrap_or(part.len());
            part = &part[taken..];
            if plain.len() > self.limit {
                return Err(Violation::TooLong);
            }
            match status {
                // A final block ends what the compressor remembers; the next one begins with the
                // next byte.
                Status::StreamEnd => self.stream.reset(false),
                Status::Ok | Status::BufError if taken > 0 || plain.len() > given => {}
                Status::Ok | Status::BufError => return Ok(()),
            }
        }
    }

    /// Ends a message.
    pub(super) fn end(&mut self, plain: &mut Vec<u8>) -> Result<(), Violation> {
        self.part(&TAIL, plain)?;
        if self.forgets {
            self.stream.reset(false);
        }
        Ok(())
    }
}
