//! How cases are put to an agent: what `run` and `bisect` are both asked for.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use conform::agent::profile::Profile;
use conform::agent::registry::Registry;
use conform::run::Options;
use conform::sandbox::{Isolation, IsolationOutcome, probe};
use conform::stand_in::path_with_stand_in;
use conform_mock_server::document::did_you_mean;
use conform_mock_server::wire::Wire;

/// How cases are put to an agent.
#[derive(Debug, Args)]
pub(crate) struct Conditions {
    /// The wire that the agents speak [default: the one that each profile prefers]
    #[arg(long, value_name = "WIRE", value_parser = wire)]
    pub(crate) wire: Option<Wire>,
    /// A folder of profiles (NAME.toml) that come before the built-in ones
    #[arg(long, value_name = "FOLDER")]
    pub(crate) profiles: Option<PathBuf>,
    #[command(flatten)]
    bounds: Bounds,
    /// Run each case this often; one that disagrees with itself is flaky
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    repeat: NonZero<usize>,
}

/// What keeps a run in its bounds.
#[derive(Debug, Args)]
pub(crate) struct Bounds {
    /// Limit for one run of the agent, in seconds; a case that meets it is an error
    #[arg(long, value_name = "SECONDS", default_value = "60",
        value_parser = at_least_one)]
    time_limit: NonZero<usize>,
    /// Whether cases are cut off from the machine: a network that holds nothing but the mock, and
    /// files of which the case's own folder alone can be changed
    #[arg(long, value_name = "HOW", value_enum, default_value_t = IsolationArg::Auto)]
    isolation: IsolationArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum IsolationArg {
    /// Yes, where the machine allows it; the report says if not
    Auto,
    /// No
    None,
    /// Yes, or nothing is run
    Strict,
}

/// What a run goes by.
pub(crate) struct Prepared {
    /// One case at once, no folder kept, nothing filtered, and each case once if not asked otherwise.
    pub(crate) options: Options,
    /// How cases are confined, for the record.
    pub(crate) isolation: String,
}

impl Conditions {
    /// Where profiles are looked for.
    pub(crate) fn registry(&self) -> Registry {
        Registry::new(self.profiles.clone())
    }

    /// Refuses a wire that no driver of the agent speaks: it would only show as a heap of errors.
    pub(crate) fn check_wire(&self, profile: &Profile) -> anyhow::Result<()> {
        let Some(wire) = self.wire else { return Ok(()) };
        let mut spoken: Vec<Wire> =
            profile.drivers.iter().flat_map(|launch| &launch.wires).copied().collect();
        if spoken.contains(&wire) {
            return Ok(());
        }
        spoken.sort_by_key(|wire| wire.name());
        spoken.dedup();
        let spoken: Vec<&str> = spoken.into_iter().map(Wire::name).collect();
        anyhow::bail!("{} does not speak {wire}; it speaks {}", profile.name, spoken.join(", "))
    }

    /// What the run goes by; `None` when cases cannot be confined as asked, which has been said
    /// then.
    pub(crate) async fn prepare(&self) -> anyhow::Result<Option<Prepared>> {
        let prepared = self.bounds.prepare().await?;
        Ok(prepared.map(|prepared| Prepared {
            options: Options { repeat: self.repeat.get(), ..prepared.options },
            ..prepared
        }))
    }
}

impl Bounds {
    /// Finds out how cases can be confined, once, so that all are confined alike; `None` when they
    /// cannot be confined as asked, which has been said then.
    pub(crate) async fn prepare(&self) -> anyhow::Result<Option<Prepared>> {
        let keeper = std::env::current_exe().context("cannot find this program's own file")?;
        let case_parent = conform::cache::case_parent()?;
        let (isolation, description) = match self.isolation {
            IsolationArg::None => (Isolation::None, "none (as asked)".to_owned()),
            IsolationArg::Auto | IsolationArg::Strict => {
                let outcome = probe(Some(keeper.clone()), case_parent.clone()).await?;
                if let (
                    IsolationArg::Strict,
                    IsolationOutcome::Network { why } | IsolationOutcome::None { why },
                ) = (self.isolation, &outcome)
                {
                    anstream::eprintln!(
                        "error: cases cannot be confined: {why}; use --isolation auto to run all the same"
                    );
                    return Ok(None);
                }
                (outcome.again(), outcome.to_string())
            }
        };
        let options = Options {
            jobs: 1,
            memory: free_memory(),
            time_limit: Duration::from_secs(u64::try_from(self.time_limit.get())?),
            isolation,
            case_parent,
            keep: false,
            path_with_stand_in: path_with_stand_in(
                &conform::cache::folder()?.join("stand-in"),
                &keeper,
            )
            .context("cannot link the stand-in for curl in the cache folder")?,
            keeper,
            repeat: 1,
            filtered: false,
        };
        Ok(Some(Prepared { options, isolation: description }))
    }
}

/// The memory that is free, in MiB; `None` where the system does not tell.
fn free_memory() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

fn wire(text: &str) -> Result<Wire, String> {
    let names = || Wire::ALL.iter().map(|wire| wire.name());
    let wire = Wire::ALL.into_iter().find(|wire| wire.name() == text);
    wire.ok_or_else(|| did_you_mean(text, names()))
}

pub(super) fn at_least_one(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "write a whole number, 1 at least".to_owned())
}
