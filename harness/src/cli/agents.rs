//! `conform agents`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use conform::agent::install::Store;
use conform::agent::profile::Profile;
use conform::agent::registry::Registry;
use conform::run::SubjectName;

use super::Status;

/// What to do with agents.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: AgentsCommand,
    /// A folder of profiles that come before the built-in ones
    #[arg(long, value_name = "FOLDER", global = true)]
    profiles: Option<PathBuf>,
    /// Where installed agents are kept [default: the user's cache folder]
    #[arg(long, value_name = "FOLDER", env = "CONFORM_CACHE", global = true)]
    cache: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// Show what is known, and what is installed
    List,
    /// Install agents from their public packages, each version beside the others
    Install {
        /// Which
        #[arg(required = true, value_name = "NAME[@VERSION]")]
        agents: Vec<SubjectName>,
    },
}

pub(crate) fn main(args: AgentsArgs) -> anyhow::Result<Status> {
    let registry = Registry::new(args.profiles);
    let store = Store::open(args.cache)?;
    match args.command {
        AgentsCommand::List => list(&registry, &store),
        AgentsCommand::Install { agents } => install(&registry, &store, &agents),
    }
}

fn list(registry: &Registry, store: &Store) -> anyhow::Result<Status> {
    for name in registry.names()? {
        let profile = registry.profile(&name)?;
        let installed = installed(&profile, store)?;
        anstream::println!("{name}  {}", profile.title);
        anstream::println!("  versions: {}", profile.versions.join(", "));
        anstream::println!(
            "  installed: {}",
            if installed.is_empty() { "none".to_owned() } else { installed.join(", ") }
        );
        for launch in &profile.drivers {
            let capabilities: Vec<_> =
                launch.capabilities.iter().map(|capability| capability.name()).collect();
            anstream::println!(
                "  driver {} over {}: {}",
                launch.driver.name(),
                launch.wire,
                capabilities.join(", ")
            );
        }
    }
    Ok(Status::Success)
}

fn installed(profile: &Profile, store: &Store) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for version in &profile.versions {
        if store.installed(profile, version)?.is_some() {
            found.push(version.clone());
        }
    }
    Ok(found)
}

fn install(registry: &Registry, store: &Store, agents: &[SubjectName]) -> anyhow::Result<Status> {
    for name in agents {
        let profile = registry.profile(&name.agent)?;
        let version = name.version.clone().unwrap_or_else(|| profile.default_version().to_owned());
        let installed = store
            .install(&profile, &version, &mut |step| anstream::eprintln!("{}: {step}", name.agent))
            .with_context(|| format!("cannot install {}@{version}", name.agent))?;
        anstream::println!("{}@{version}  {}", name.agent, installed.executable.display());
    }
    Ok(Status::Success)
}
