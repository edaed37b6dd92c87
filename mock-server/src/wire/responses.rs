//! The Responses wire.
