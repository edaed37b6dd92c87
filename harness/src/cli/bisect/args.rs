//! What `conform bisect` is asked for.

use std::path::PathBuf;

use clap::Args;
use semver::Version;

use crate::cli::list::{SCENARIOS, Selection};
use crate::cli::run::Conditions;

/// How the search goes, and what its exit status says.
const AFTER_HELP: &str = "\
The case is run at both ends first, then at the version in the middle of those that are left, and
so on; what is not installed yet is installed. Two verdicts are the same when both pass, or when
both break the same clauses; no baseline is used. A version that cannot be installed, or whose
verdict is an error, a skip or flaky, is passed over. The verdict is taken to change once.

Examples:
  conform bisect --agent codex --good 0.160.0 --bad 0.171.0 role.pairing.parallel-calls
  conform bisect --agent codex --good 0.160.0 --bad 0.171.0 parallel-calls --scenarios my/scenarios

Exit status:
  0    found: the first version that differs, and the last before it
  2    bad input: usage, scenario, profile, a version that was not published
  3    cannot say: the ends do not differ, or only versions that were passed over are left
  130  interrupted";

/// Which case, on which versions of which agent.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct BisectArgs {
    /// The id of a case, or a filter, as `run` has it, that only one case fits
    #[arg(value_name = "CASE")]
    pub(super) case: String,
    /// The agent
    #[arg(long, short, value_name = "NAME", value_parser = agent)]
    pub(super) agent: String,
    /// The older version, whose verdict is the one that the others are held against
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub(super) good: Version,
    /// The newer version, whose verdict differs
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub(super) bad: Version,
    /// Scenario files, or folders of them, that hold the case; may repeat
    #[arg(long, value_name = "PATH", default_value = SCENARIOS)]
    pub(super) scenarios: Vec<PathBuf>,
    /// Where matrices are [default: the folder `matrices` beside `scenarios`]
    #[arg(long, value_name = "PATH")]
    pub(super) matrices: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) conditions: Conditions,
    /// A new folder for the records, one for each version [default: one below .conform/runs]
    #[arg(long, value_name = "FOLDER")]
    pub(super) record: Option<PathBuf>,
}

impl BisectArgs {
    /// Everything that may hold the case.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            paths: self.scenarios.clone(),
            filter: Vec::new(),
            matrices: self.matrices.clone(),
        }
    }
}

fn agent(text: &str) -> Result<String, String> {
    match text.split_once('@') {
        Some((name, _)) => Err(format!("write {name} alone; --good and --bad name the versions")),
        None => Ok(text.to_owned()),
    }
}

fn version(text: &str) -> Result<Version, String> {
    text.parse().map_err(|error| format!("{error}; write an exact version, such as 1.2.3"))
}
