//! What a client offers for compression, and the frames that it sends then.
#![no_main]

use conform_mock_server::fuzzing::deflate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| deflate(bytes));
