//! What `conform run` is asked for.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use conform::run::SubjectName;
use conform_reports::console::StatusLevel;

use super::conditions::{Conditions, at_least_one};
use super::require::Require;
use crate::cli::list::Selection;

/// What to do with a run, and what its exit status says.
const AFTER_HELP: &str = "\
Examples:
  conform run scenarios
  conform run scenarios/approval --filter denied --keep
  conform run scenarios --agent codex@0.171.0 --junit out.xml
  conform run scenarios --agent codex --agent pi --require any
  conform run scenarios --defect result-as-user

Exit status:
  0    the gate holds
  1    the gate fails: a broken must, a stale baseline entry, a flaky case
  2    bad input: usage, scenario, profile, baseline, a place that cannot be written
  3    errors: some cases could not be judged, an agent that is required is not on this machine
       (the others run all the same), or not everything could be written
  4    nothing was selected, or every case was skipped
  130  interrupted; finished cases are in the record";

/// What to run, on what, and how.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The agent under test, as it is installed; may repeat [default: lab]
    #[arg(long, short, value_name = "NAME[@VERSION]")]
    pub(crate) agent: Vec<SubjectName>,
    /// Which of the agents must be on this machine: all, any, or those named
    #[arg(long, value_name = "all|any|NAME[,NAME]", default_value = "all")]
    pub(crate) require: Require,
    /// Switch on a deliberate defect of the lab agent, to see it found; may repeat
    #[arg(long, value_name = "NAME")]
    pub(crate) defect: Vec<String>,
    /// Cases that run at once [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub(crate) jobs: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(crate) conditions: Conditions,
    /// The least grave clause that fails the gate when it is broken
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t = GateArg::Must)]
    pub(crate) gate: GateArg,
    /// A baseline of known gaps, instead of the one kept beside the agent's profile
    #[arg(long, value_name = "FILE", conflicts_with = "no_baseline")]
    pub(crate) baseline: Option<PathBuf>,
    /// Use no baseline: known gaps count as fails
    #[arg(long)]
    pub(crate) no_baseline: bool,
    /// A new folder for the record of the run [default: one below .conform/runs]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    // Not a doc comment: the name would need quotes there, which the help would show.
    #[arg(
        long,
        value_name = "FILE",
        help = "Write a report for CI systems, in JUnit form, to this file"
    )]
    pub(crate) junit: Option<PathBuf>,
    /// Which cases get a line as they finish [default: notable on a terminal, else all]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) status: Option<StatusArg>,
    /// Keep the folder of each case, which is told after its line, and every request body
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GateArg {
    /// A broken must fails the gate, a broken should is shown only
    Must,
    /// A broken should fails it too
    Should,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StatusArg {
    /// None
    None,
    /// Those that fail or are errors
    Fail,
    /// All but pass and skip
    Notable,
    /// All
    All,
}

impl From<StatusArg> for StatusLevel {
    fn from(arg: StatusArg) -> Self {
        match arg {
            StatusArg::None => Self::None,
            StatusArg::Fail => Self::Fail,
            StatusArg::Notable => Self::Notable,
            StatusArg::All => Self::All,
        }
    }
}
