//! The agents that a run is about.

use std::sync::Arc;

use conform::agent::install::{Installed, Store};
use conform::agent::profile::Profile;
use conform::agent::registry::Registry;
use conform::run::{Baseline, Subject, SubjectName};
use conform_lab_agent::Defect;
use conform_mock_server::document::did_you_mean;
use conform_mock_server::wire::Wire;

use super::args::RunArgs;

/// The agents under test and their baselines, in the same order.
pub(super) fn subjects(
    args: &RunArgs,
    registry: &Registry,
) -> anyhow::Result<(Vec<Arc<Subject>>, Vec<Baseline>)> {
    let lab = [SubjectName { agent: "lab".to_owned(), version: None }];
    let names = if args.agent.is_empty() { &lab[..] } else { &args.agent };
    let store = Store::open(conform::cache::folder()?);
    let mut subjects = Vec::new();
    let mut baselines = Vec::new();
    for defect in &args.defect {
        check_defect(defect)?;
    }
    for name in names {
        let profile = registry.profile(&name.agent)?;
        if !args.defect.is_empty() && profile.name != "lab" {
            anyhow::bail!(
                "`--defect` is for the lab agent, which is built for it; leave it out for {}",
                profile.name
            );
        }
        let installed = store.installed(&profile, name.version.as_deref())?;
        let Some(installed) = installed else {
            let profiles = match &args.profiles {
                Some(folder) => format!(" --profiles {}", folder.display()),
                None => String::new(),
            };
            anyhow::bail!("{name} is not installed; run `conform agents install {name}{profiles}`");
        };
        installed.verify()?;
        let Installed { version, executable, interpreter, .. } = installed;
        let is_same =
            |other: &Arc<Subject>| other.profile.name == profile.name && other.version == version;
        if subjects.iter().any(is_same) {
            anyhow::bail!("{}@{version} is named twice; name it once", profile.name);
        }
        check_wire(args, &profile)?;
        baselines.push(baseline(args, registry, &profile.name, &version)?);
        let defects = args.defect.clone();
        subjects.push(Arc::new(Subject {
            profile,
            version,
            executable,
            interpreter,
            wire: args.wire,
            defects,
        }));
    }
    Ok((subjects, baselines))
}

/// A wire that no driver of the agent speaks would only show as a heap of errors.
fn check_wire(args: &RunArgs, profile: &Profile) -> anyhow::Result<()> {
    let Some(wire) = args.wire else { return Ok(()) };
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

fn check_defect(name: &str) -> anyhow::Result<()> {
    let cards: Vec<_> = Defect::ALL.iter().map(|defect| defect.card()).collect();
    if cards.iter().any(|card| card.name == name) {
        return Ok(());
    }
    let help = did_you_mean(name, cards.iter().map(|card| card.name));
    anyhow::bail!("the lab agent has no defect `{name}`: {help}")
}

fn baseline(
    args: &RunArgs,
    registry: &Registry,
    agent: &str,
    version: &str,
) -> anyhow::Result<Baseline> {
    if args.no_baseline {
        return Ok(Baseline::default());
    }
    if let Some(path) = &args.baseline {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            anyhow::anyhow!("cannot read the baseline {name}: {error}; check the path")
        })?;
        return Ok(Baseline::parse(&name, &text, agent, version)?);
    }
    match registry.baseline(agent, version)? {
        Some((name, text)) => Ok(Baseline::parse(&name, &text, agent, version)?),
        None => Ok(Baseline::default()),
    }
}
