//! The `conform` command.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Asked first of all: a keeper must not have started a thread.
    if conform::sandbox::keeper::is_asked_for() {
        return conform::sandbox::keeper::main();
    }
    cli::main()
}
