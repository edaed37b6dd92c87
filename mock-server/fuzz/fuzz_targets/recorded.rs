//! A recorded reply on any wire, whole or streamed.
#![no_main]

use conform_mock_server::fuzzing::recorded;
use conform_mock_server::wire::Wire;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    for wire in Wire::ALL {
        recorded(wire, body);
    }
});
