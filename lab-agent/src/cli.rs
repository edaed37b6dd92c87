//! The command line, and the way from it to an exit status.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Parser, error::ErrorKind};

use crate::{
    defect::{Card, Defect},
    session::{self, Ending},
    settings::{Policy, Settings},
};

/// A small coding agent that honours every clause, and breaks one on request.
///
/// It works in the current folder, keeps its own state in the folder .lab of HOME, sends the key
/// in `LAB_API_KEY` as a bearer token, and prints its events as JSON lines. Exit status: 0 the turn completed (in
/// dialogue: the session was closed), 1 it failed, 2 the run could not start as asked.
#[expect(clippy::struct_excessive_bools, reason = "each is one flag of the command line")]
#[derive(Debug, Parser)]
#[command(name = "lab-agent", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Address of the model server, with the version part, as in `http://127.0.0.1:8080/v1`.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: String,
    /// Model to name in every request.
    #[arg(long)]
    pub(crate) model: String,
    /// What may be done without asking.
    #[arg(long)]
    pub(crate) policy: Policy,
    /// Let a plain HTTP GET with curl count as reading.
    #[arg(long)]
    pub(crate) network: bool,
    /// Load no rule file of this folder.
    #[arg(long)]
    pub(crate) untrusted: bool,
    /// Break one clause; may repeat.
    #[arg(long = "defect", value_name = "NAME")]
    pub(crate) defects: Vec<Defect>,
    /// Silence of the model server after which the stream counts as lost.
    #[arg(long, value_name = "MS", default_value_t = 120_000)]
    pub(crate) idle_timeout_ms: u64,
    /// Keep the history in this file after every turn.
    #[arg(long, value_name = "FILE")]
    pub(crate) session_file: Option<PathBuf>,
    /// Go on with the history in the session file.
    #[arg(long, requires = "session_file")]
    pub(crate) resume: bool,
    /// Print every defect as JSON, and end.
    #[arg(long)]
    list_defects: bool,
    /// Read prompts, approvals and steers as JSON lines from standard input.
    #[arg(long, conflicts_with = "prompt", required_unless_present = "prompt")]
    dialogue: bool,
    /// Run one turn for this prompt.
    pub(crate) prompt: Option<String>,
}

/// Runs the lab agent.
///
/// `args` starts with the name of the program, as [`std::env::args_os`] does. Gives exit status 0
/// if the turn completed (in dialogue: the session was closed), 1 if it failed, and 2 if the run
/// could not start as asked.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    // Clap would ask for the options that a run needs; the list needs none.
    if args.iter().skip(1).any(|arg| arg == "--list-defects") {
        return list_defects();
    }
    let run = match Args::try_parse_from(args) {
        Ok(run) => run,
        Err(error) => {
            let shown = error.print().is_ok();
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked && shown { 0 } else { 2 });
        }
    };
    let settings = match Settings::gather(run) {
        Ok(settings) => settings,
        Err(error) => return complain(&error, 2),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&error, 1),
    };
    match runtime.block_on(session::run(settings)) {
        Ok(Ending::Completed) => ExitCode::SUCCESS,
        Ok(Ending::Failed) => ExitCode::FAILURE,
        Err(error) => complain(&error, error.exit_status()),
    }
}

#[expect(clippy::print_stderr, reason = "this is where a run that cannot report says why")]
fn complain(error: &dyn std::error::Error, status: u8) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(status)
}

#[expect(clippy::print_stdout, reason = "the list is the output that was asked for")]
fn list_defects() -> ExitCode {
    let cards: Vec<Card> = Defect::ALL.iter().map(|defect| defect.card()).collect();
    match serde_json::to_string_pretty(&cards) {
        Ok(list) => {
            println!("{list}");
            ExitCode::SUCCESS
        }
        Err(error) => complain(&error, 1),
    }
}
