//! The body of a request on any wire: parsed, judged by every rule, projected onto segments.
#![no_main]

use conform_mock_server::fuzzing::request;
use conform_mock_server::wire::Wire;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    for wire in Wire::ALL {
        request(wire, body);
    }
});
