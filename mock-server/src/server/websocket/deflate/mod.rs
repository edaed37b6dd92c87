//! Compression of messages: `permessage-deflate` (RFC 7692).
//!
//! What comes in is made plain below the `WebSocket` layer, which sees frames as if no extension
//! were in use; what goes out is compressed above it, a whole message at a time, so that a script's
//! faults stand between the same messages as without compression.

mod incoming;
mod inflate;
mod offer;
mod outgoing;

#[cfg(fuzzing)]
pub(crate) use fuzzing::read_and_drop;
pub(super) use incoming::{Incoming, Violation};
pub(super) use offer::{Agreed, negotiate};
pub(super) use outgoing::Outgoing;

/// What a compressor ends a flush with: the end of an empty stored block. It is taken off each
/// message, and put on again before the message is read (RFC 7692, section 7.2).
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

#[cfg(fuzzing)]
mod fuzzing;

#[cfg(test)]
mod tests;
