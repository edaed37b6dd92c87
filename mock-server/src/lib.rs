//! A scriptable mock model server for testing coding agents.
//!
//! A [`Script`](script::Script) holds the model's canned turns. [`MockServer`](server::MockServer)
//! serves them on loopback, one reply for each request, and keeps a [`Journal`](journal::Journal)
//! of everything that arrived. [`capture`] projects a received request onto segments, so that a
//! test can ask where a text landed and at what authority.
//!
//! The road through the crate is one way: `document` (YAML with spans) → `script` → `server`
//! (routing, gates) → `wire` (event sequences) → `journal` → `capture`.

pub mod capture;
pub mod document;
pub mod gate;
pub mod journal;
pub mod script;
pub mod server;
pub mod wire;
