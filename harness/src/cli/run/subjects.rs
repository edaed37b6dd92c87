//! The agents that a run is about.

use std::sync::Arc;

use conform::agent::install::{InstallError, Installed, Store};
use conform::agent::profile::{Install, Profile};
use conform::agent::registry::Registry;
use conform::run::{Baseline, Subject, SubjectName};
use conform_lab_agent::Defect;
use conform_mock_server::document::did_you_mean;
use conform_reports::record::NotRun;

use super::args::RunArgs;

/// The agents under test.
pub(super) struct Subjects {
    /// Those that can be started.
    pub(super) here: Vec<Arc<Subject>>,
    /// Their baselines, in the same order.
    pub(super) baselines: Vec<Baseline>,
    /// Those that are not on this machine.
    pub(super) missing: Vec<NotRun>,
}

/// Finds the agents under test. One that is not on this machine does not keep the others from
/// being run; one that no profile knows is bad input.
pub(super) fn subjects(args: &RunArgs, registry: &Registry) -> anyhow::Result<Subjects> {
    let lab = [SubjectName { agent: "lab".to_owned(), version: None }];
    let names = if args.agent.is_empty() { &lab[..] } else { &args.agent };
    args.require.check(names)?;
    let store = Store::open(conform::cache::folder()?);
    let mut subjects = Subjects { here: Vec::new(), baselines: Vec::new(), missing: Vec::new() };
    let mut seen: Vec<(String, String)> = Vec::new();
    for defect in &args.defect {
        check_defect(defect)?;
    }
    for name in names {
        let profile = registry.profile(&name.agent)?.at(name.version.as_deref()).clone();
        if !args.defect.is_empty() && profile.name != "lab" {
            anyhow::bail!(
                "`--defect` is for the lab agent, which is built for it; leave it out for {}",
                profile.name
            );
        }
        args.conditions.check_wire(&profile)?;
        let found = find(args, &store, &profile, name)?;
        let version = match (&found, &name.version) {
            (Ok(installed), _) => installed.version.clone(),
            (Err(_), Some(version)) if version != "latest" => version.clone(),
            (Err(_), _) => profile.versions.first().cloned().unwrap_or_default(),
        };
        let one = (profile.name.clone(), version);
        if seen.contains(&one) {
            anyhow::bail!("{}@{} is named twice; name it once", one.0, one.1);
        }
        match found {
            Ok(installed) => {
                subjects.baselines.push(baseline(args, registry, &one.0, &one.1)?);
                let subject = subject(profile, installed);
                subjects.here.push(Arc::new(Subject {
                    wire: args.conditions.wire,
                    defects: args.defect.clone(),
                    ..subject
                }));
            }
            Err(why) => {
                anstream::eprintln!("not run: {name}: {why}");
                let required = args.require.counts(name);
                subjects.missing.push(NotRun { agent: name.to_string(), why, required });
            }
        }
        seen.push(one);
    }
    // A run of nothing holds nothing.
    if subjects.here.is_empty() {
        subjects.missing.iter_mut().for_each(|missing| missing.required = true);
    }
    Ok(subjects)
}

/// The installed agent as it is started, on the wire that each launch prefers.
pub(crate) fn subject(profile: Profile, installed: Installed) -> Subject {
    let Installed { version, executable, interpreter, .. } = installed;
    Subject { profile, version, executable, interpreter, wire: None, defects: Vec::new() }
}

/// The agent on this machine; `Ok(Err(_))`: why it is not there, and what to do.
fn find(
    args: &RunArgs,
    store: &Store,
    profile: &Profile,
    name: &SubjectName,
) -> anyhow::Result<Result<Installed, String>> {
    let found = store.installed(profile, name.version.as_deref()).and_then(|found| {
        found.iter().try_for_each(Installed::verify)?;
        Ok(found)
    });
    match found {
        Ok(Some(installed)) => Ok(Ok(installed)),
        Ok(None) => {
            let profiles = match &args.conditions.profiles {
                Some(folder) => format!(" --profiles {}", folder.display()),
                None => String::new(),
            };
            let install = format!("run `conform agents install {name}{profiles}`");
            if is_known(profile, name) {
                return Ok(Err(format!("it is not installed; {install}")));
            }
            // There may be no such version at all, and a mistyped one is not to be let through.
            anyhow::bail!(
                "{name} is not installed, and its profile lists no such version; {install}"
            )
        }
        Err(
            problem @ (InstallError::NotOnPath { .. }
            | InstallError::Damaged { .. }
            | InstallError::Io { .. }),
        ) => Ok(Err(problem.to_string())),
        Err(other) => Err(other.into()),
    }
}

/// Whether the profile knows of the version, which only those that are fetched can lack.
fn is_known(profile: &Profile, name: &SubjectName) -> bool {
    match (&profile.install, name.version.as_deref()) {
        (Install::BuiltIn | Install::Path { .. }, _) | (_, None | Some("latest")) => true,
        (Install::Npm { .. } | Install::Pip { .. }, Some(version)) => {
            profile.versions.iter().any(|known| known == version)
        }
    }
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
