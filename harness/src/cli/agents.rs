//! `conform agents`.

mod doctor;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use conform::agent::install::{Installed, Listed, Store};
use conform::agent::profile::{Install, Profile};
use conform::agent::registry::Registry;
use conform::run::SubjectName;

use super::Status;
use super::page::{Page, print};

/// What to do with agents.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: AgentsCommand,
    /// A folder of profiles (NAME.toml) that come before the built-in ones
    #[arg(long, value_name = "FOLDER", global = true)]
    profiles: Option<PathBuf>,
    /// Where installed agents are kept [default: the user's cache folder]
    #[arg(
        long,
        value_name = "FOLDER",
        env = "CONFORM_CACHE",
        hide_env_values = true,
        global = true
    )]
    cache: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// Show what is known, and what is installed
    List,
    /// Install agents from their public packages, each version beside the others
    Install {
        /// The agents, such as codex or codex@0.171.0; `all` stands for every one that is fetched
        #[arg(required = true, value_name = "NAME[@VERSION]")]
        agents: Vec<SubjectName>,
    },
    /// Say what works of installed agents, and where their profiles no longer describe them
    Doctor(doctor::DoctorArgs),
}

pub(crate) fn main(args: AgentsArgs) -> anyhow::Result<Status> {
    let registry = Registry::new(args.profiles);
    let store = Store::open(args.cache.map_or_else(conform::cache::folder, Ok)?);
    match args.command {
        AgentsCommand::List => list(&registry, &store),
        AgentsCommand::Install { agents } => install(&registry, &store, &agents),
        AgentsCommand::Doctor(args) => doctor::main(&registry, &store, &args),
    }
}

fn list(registry: &Registry, store: &Store) -> anyhow::Result<Status> {
    let listed = store.list()?;
    let mut page = Page::default();
    for name in registry.names()? {
        let file = registry.profile(&name)?;
        let profile = file.at(None);
        page.line(format_args!("{name}  {}", profile.title));
        if matches!(profile.install, Install::Npm { .. } | Install::Pip { .. }) {
            page.line(format_args!("  tried with: {}", profile.versions.join(", ")));
            let changes: Vec<_> = file.changes().map(ToString::to_string).collect();
            if !changes.is_empty() {
                page.line(format_args!("  changed in: {}", changes.join(", ")));
            }
        }
        page.line(format_args!("  {}", installed(profile, store, &listed)));
        for launch in &profile.drivers {
            let names: Vec<_> =
                launch.capabilities.iter().map(|capability| capability.name()).collect();
            let capabilities = if names.is_empty() {
                "no capability declared".to_owned()
            } else {
                names.join(", ")
            };
            let wires: Vec<_> = launch.wires.iter().map(|wire| wire.name()).collect();
            page.line(format_args!(
                "  driver {} over {}: {capabilities}",
                launch.driver.name(),
                wires.join(", "),
            ));
        }
    }
    page.print()?;
    Ok(Status::Success)
}

/// Where the agent is on this machine. What is wrong with one does not keep the others from being
/// shown.
fn installed(profile: &Profile, store: &Store, listed: &[Listed]) -> String {
    match &profile.install {
        Install::BuiltIn => "built in".to_owned(),
        Install::Path { executable } => match store.installed(profile, None) {
            Ok(Some(found)) => format!("at {}", found.executable.display()),
            Ok(None) => format!("not on this machine: {executable}"),
            Err(problem) => format!("not on this machine: {problem}"),
        },
        Install::Npm { .. } | Install::Pip { .. } => {
            let here: Vec<String> = listed
                .iter()
                .filter(|listed| listed.agent == profile.name)
                .map(|listed| match &listed.state {
                    Ok(_) => listed.version.clone(),
                    Err(problem) => format!("{} ({problem})", listed.version),
                })
                .collect();
            if here.is_empty() {
                format!("not installed; run `conform agents install {}`", profile.name)
            } else {
                format!("installed: {}", here.join(", "))
            }
        }
    }
}

/// Installs agents one after another. One that cannot be installed does not keep the others from it.
fn install(registry: &Registry, store: &Store, agents: &[SubjectName]) -> anyhow::Result<Status> {
    let mut failed = Vec::new();
    for name in named(registry, agents)? {
        let file = registry.profile(&name.agent)?;
        let profile = file.at(name.version.as_deref());
        let installed = store.install(profile, name.version.as_deref(), &mut |step| {
            anstream::eprintln!("{name}: {step}");
        });
        match installed {
            Ok(Installed { version, executable, .. }) => {
                print(&format!("{}@{version}  {}\n", name.agent, executable.display()))?;
            }
            Err(problem) => {
                anstream::eprintln!("error: cannot install {name}: {problem}");
                failed.push(name.to_string());
            }
        }
    }
    if failed.is_empty() {
        return Ok(Status::Success);
    }
    anstream::eprintln!("not installed: {}", failed.join(", "));
    Ok(Status::Errors)
}

/// The agents meant; `all` are those that are fetched.
fn named(registry: &Registry, agents: &[SubjectName]) -> anyhow::Result<Vec<SubjectName>> {
    let mut named = Vec::new();
    for name in agents {
        if name.agent != "all" || name.version.is_some() {
            named.push(name.clone());
            continue;
        }
        for agent in registry.names()? {
            if matches!(
                registry.profile(&agent)?.at(None).install,
                Install::Npm { .. } | Install::Pip { .. }
            ) {
                named.push(SubjectName { agent, version: None });
            }
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_each_agent_once_however_many_versions_it_was_tried_with() {
        let registry = Registry::default();
        let tried = registry.profile("codex").unwrap().base().versions.len();
        assert!(tried > 1, "{tried}");
        let all: SubjectName = "all".parse().unwrap();
        let named = named(&registry, &[all]).unwrap();
        let codex: Vec<_> = named.iter().filter(|name| name.agent == "codex").collect();
        assert_eq!(codex, [&SubjectName { agent: "codex".to_owned(), version: None }]);
    }
}
