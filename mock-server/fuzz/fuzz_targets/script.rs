//! A script file: read, and either loaded or reported with every place drawn.
#![no_main]

use conform_mock_server::document::{Source, render};
use conform_mock_server::script;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = Source::new("script.yaml", text);
    if let Err(problems) = script::load(&source) {
        assert!(!problems.is_empty(), "refused without a reason");
        for problem in &problems {
            assert!(!render(problem).is_empty());
        }
    }
});
