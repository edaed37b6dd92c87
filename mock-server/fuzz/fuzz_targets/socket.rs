//! A client's message on a `WebSocket`: read, its history put together, answered as a warm-up.
#![no_main]

use conform_mock_server::fuzzing::socket;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|message: &[u8]| socket(message));
