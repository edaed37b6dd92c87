//! The lab agent as a binary of its own; the harness runs the same code as `conform lab-agent`.

use std::process::ExitCode;

fn main() -> ExitCode {
    conform_lab_agent::main(std::env::args_os())
}
