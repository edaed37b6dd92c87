//! What `conform run` is asked for.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use conform::run::SubjectName;
use conform_mock_server::document::did_you_mean;
use conform_mock_server::wire::Wire;
use conform_reports::console::StatusLevel;

use crate::cli::list::Selection;

/// What to do with a run, and what its exit status says.
const AFTER_HELP: &str = "\
Examples:
  conform run scenarios
  conform run scenarios/approval --filter denied --keep
  conform run scenarios --agent codex@0.171.0 --junit out.xml
  conform run scenarios --defect result-as-user

Exit status:
  0    the gate holds
  1    the gate fails: a broken must, a stale baseline entry, a flaky case
  2    bad input: usage, scenario, profile, baseline, a place that cannot be written
  3    errors: some cases could not be judged, or not everything could be written
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
    /// The wire that the agents speak [default: the one that each profile prefers]
    #[arg(long, value_name = "WIRE", value_parser = wire)]
    pub(crate) wire: Option<Wire>,
    /// A folder of profiles (NAME.toml) that come before the built-in ones
    #[arg(long, value_name = "FOLDER")]
    pub(crate) profiles: Option<PathBuf>,
    /// Switch on a deliberate defect of the lab agent, to see it found; may repeat
    #[arg(long, value_name = "NAME")]
    pub(crate) defect: Vec<String>,
    /// Cases that run at once [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Limit for one run of the agent, in seconds; a case that meets it is an error
    #[arg(long, value_name = "SECONDS", default_value = "60",
        value_parser = at_least_one)]
    pub(crate) time_limit: NonZero<usize>,
    /// Whether cases run in a network namespace, cut off from everything but the mock
    #[arg(long, value_name = "HOW", value_enum, default_value_t = IsolationArg::Auto)]
    pub(crate) isolation: IsolationArg,
    /// Run each case this often; one that disagrees with itself is flaky
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    pub(crate) repeat: NonZero<usize>,
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
pub(crate) enum IsolationArg {
    /// Yes, where the machine allows it; the report says if not
    Auto,
    /// No
    None,
    /// Yes, or nothing is run
    Strict,
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

fn wire(text: &str) -> Result<Wire, String> {
    let names = || Wire::ALL.iter().map(|wire| wire.name());
    let wire = Wire::ALL.into_iter().find(|wire| wire.name() == text);
    wire.ok_or_else(|| did_you_mean(text, names()))
}

fn at_least_one(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "write a whole number, 1 at least".to_owned())
}
