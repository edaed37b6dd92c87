//! The `conform` command.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Asked first of all: a keeper must not have started a thread.
    if conform::sandbox::keeper::is_asked_for() {
        return conform::sandbox::keeper::main();
    }
    if conform::stand_in::is_asked_for() {
        return conform::stand_in::main();
    }
    cli::main()
}
