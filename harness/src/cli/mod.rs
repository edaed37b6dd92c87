//! The command line.

mod agents;
mod check;
mod explain;
mod list;
mod record;
mod run;
mod serve;
mod stop;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A deterministic conformance test harness for coding agents.
///
/// Drives a real agent against canned model turns on loopback and judges every request it sent,
/// its final text and what happened on disk.
#[derive(Debug, Parser)]
#[command(name = "conform", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scenarios against an agent (the built-in lab agent, if none is named)
    Run(run::RunArgs),
    /// List the cases of a selection without running them
    List(list::ListArgs),
    /// Check scenario, matrix and profile files without running anything
    Check(check::CheckArgs),
    /// Explain a clause or a case
    Explain(explain::ExplainArgs),
    /// Install agents and show what is known about them
    Agents(agents::AgentsArgs),
    /// Serve a script as a model server
    Serve(serve::ServeArgs),
    /// Record what a real model service says as a script
    Record(record::RecordArgs),
    /// The built-in reference agent
    #[command(disable_help_flag = true)]
    LabAgent {
        /// Its own arguments; `conform lab-agent --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Keeps one agent confined; started by conform itself
    #[command(hide = true)]
    Keeper {
        /// Its own arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
}

/// What the process tells its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done, and where there is a gate, it holds.
    Success,
    /// The gate fails.
    GateFails,
    /// Bad input: usage, scenario, profile.
    BadInput,
    /// Errors: nothing can be said about the agent.
    Errors,
    /// Nothing was selected.
    NothingSelected,
    /// Interrupted.
    Interrupted,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Success => 0,
            Status::GateFails => 1,
            Status::BadInput => 2,
            Status::Errors => 3,
            Status::NothingSelected => 4,
            Status::Interrupted => 130,
        })
    }
}

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => run::main(&args),
        Command::List(args) => list::main(&args),
        Command::Check(args) => check::main(&args),
        Command::Explain(args) => explain::main(&args),
        Command::Agents(args) => agents::main(args),
        Command::Serve(args) => serve::main(&args),
        Command::Record(args) => record::main(&args),
        Command::LabAgent { arguments } => {
            let name = std::ffi::OsString::from("lab-agent");
            return conform_lab_agent::main(std::iter::once(name).chain(arguments));
        }
        Command::Keeper { .. } => return conform::sandbox::keeper::main(),
    };
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            say_error(&error);
            Status::BadInput.into()
        }
    }
}

/// Prints an error with its causes.
fn say_error(error: &anyhow::Error) {
    anstream::eprintln!("error: {error:#}");
}

/// Prints what is wrong with documents; says how many errors there are.
fn say_problems(problems: &[conform_mock_server::document::Diagnostic]) -> usize {
    use conform_mock_server::document::Severity;
    for problem in problems {
        anstream::eprintln!("{problem}");
    }
    problems.iter().filter(|problem| problem.severity == Severity::Error).count()
}
