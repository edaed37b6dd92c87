//! The command line.

mod agents;
mod bisect;
mod check;
mod explain;
mod list;
mod page;
mod record;
mod run;
mod schema;
mod serve;
mod signals;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What a new user wants to know first.
const FIRST_STEPS: &str = "\
First steps:
  conform run scenarios                            run every case on the built-in lab agent
  conform agents install codex@0.171.0             install an agent
  conform run scenarios --agent codex@0.171.0      run every case on it
  conform list scenarios                           show the cases
  conform explain role.no-promotion                say what a clause or a case is about";

/// A deterministic conformance test harness for coding agents.
///
/// Drives a real agent against canned model turns on loopback and judges every request it sent,
/// its final text and what happened on disk. No model and no network are needed.
#[derive(Debug, Parser)]
#[command(
    name = "conform",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = FIRST_STEPS
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scenarios on an agent (on the built-in lab agent, if none is named), and judge it
    Run(run::RunArgs),
    /// List the cases of a selection without running them
    List(list::ListArgs),
    /// Find everything wrong with scenario, matrix, profile and baseline files
    Check(check::CheckArgs),
    /// Say what a clause or a case is about
    Explain(explain::ExplainArgs),
    /// Find the first published version of an agent whose verdict on a case differs
    Bisect(bisect::BisectArgs),
    /// Install agents, and show what is known about them
    Agents(agents::AgentsArgs),
    /// Print the form of a kind of file as a JSON Schema
    Schema(schema::SchemaArgs),
    /// Serve a script as a model server on loopback
    Serve(serve::ServeArgs),
    /// Record what a real model service says as a script
    Record(record::RecordArgs),
    /// Be the lab agent, the small reference agent that is built in
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
    /// Nothing was selected, or nothing of it judged.
    NothingSelected,
    /// Interrupted.
    Interrupted,
}

impl Status {
    /// The exit status.
    fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::GateFails => 1,
            Self::BadInput => 2,
            Self::Errors => 3,
            Self::NothingSelected => 4,
            Self::Interrupted => 130,
        }
    }
}

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => run::main(&args),
        Command::List(args) => list::main(&args),
        Command::Check(args) => check::main(args),
        Command::Explain(args) => explain::main(&args),
        Command::Bisect(args) => bisect::main(&args),
        Command::Agents(args) => agents::main(args),
        Command::Schema(args) => schema::main(&args),
        Command::Serve(args) => serve::main(&args),
        Command::Record(args) => record::main(&args),
        Command::LabAgent { arguments } => {
            let name = std::ffi::OsString::from("lab-agent");
            return conform_lab_agent::main(std::iter::once(name).chain(arguments));
        }
        Command::Keeper { .. } => return conform::sandbox::keeper::main(),
    };
    match result {
        Ok(status) => status.code().into(),
        Err(error) => {
            say_error(&error);
            Status::BadInput.code().into()
        }
    }
}

/// Prints an error with those of its causes that its text does not name already.
fn say_error(error: &anyhow::Error) {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    anstream::eprintln!("error: {}", text.trim_end());
}

/// Prints what is wrong with documents; says how many errors there are.
fn say_problems(problems: &[conform_mock_server::document::Diagnostic]) -> usize {
    use conform_mock_server::document::Severity;
    for problem in problems {
        anstream::eprintln!("{problem}");
    }
    problems.iter().filter(|problem| problem.severity == Severity::Error).count()
}
