//! From a profile's launch to a process: arguments, environment and configuration files of one run.

use std::path::{Path, PathBuf};

use conform_mock_server::wire::Wire;
use indexmap::IndexMap;

use super::profile::{ConfigFile, Launch, PolicyLowering, Profile};
use super::template::{TemplateError, Values, render};
use crate::case::{Places, Variant};
use crate::driver::{AcpSettings, Argument, DriverKind, ResolvedLaunch, ThreadSettings};
use crate::scenario::{Capability, Network};

/// The key that agents are given; it opens nothing.
const FAKE_KEY: &str = "sk-conform-no-key";

/// A launch that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The profile has no such policy, or the policy cannot grant the network.
    #[error(
        "the profile `{profile}` cannot express policy `{policy}` with this network; add it under `[policy.{policy}]`"
    )]
    Policy {
        /// The profile.
        profile: String,
        /// The policy.
        policy: &'static str,
    },
    /// A template of the profile is wrong.
    #[error("the profile `{profile}`: {source}")]
    Template {
        /// The profile.
        profile: String,
        /// What is wrong.
        source: TemplateError,
    },
    /// A configuration file cannot be written.
    #[error("cannot write {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A configuration file would stand outside the case folder.
    #[error("the profile `{profile}` writes `{path}`, which is not below the case folder")]
    Outside {
        /// The profile.
        profile: String,
        /// The path.
        path: String,
    },
}

/// What one run starts, and with what.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// The agent's profile.
    pub profile: &'a Profile,
    /// The launch chosen.
    pub launch: &'a Launch,
    /// The wire chosen.
    pub wire: Wire,
    /// The executable, or the script that the interpreter runs.
    pub executable: &'a Path,
    /// What runs the script; `None`: the executable runs by itself.
    pub interpreter: Option<&'a Path>,
    /// Deliberate defects, for the lab agent.
    pub defects: &'a [String],
    /// Where it finds programs.
    pub path: &'a str,
    /// What the case requires of the agent.
    pub requires: &'a [Capability],
    /// The run.
    pub variant: &'a Variant,
    /// Its folders and the mock's address.
    pub places: &'a Places,
}

impl Start<'_> {
    /// Writes the agent's configuration files below the case folder.
    ///
    /// # Errors
    /// When the profile cannot express the run, or a file cannot be written.
    pub fn write_files(&self, root: &Path) -> Result<(), LaunchError> {
        let values = FileValues { start: self, policy: self.policy()? };
        for file in &self.profile.files {
            let is_below = Path::new(&file.path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if !is_below {
                let (profile, path) = (self.profile.name.clone(), file.path.clone());
                return Err(LaunchError::Outside { profile, path });
            }
            let text = render(&file.text, &values).map_err(|source| self.template(source))?;
            for folder in self.folders(root, file) {
                let path = folder.join(&file.path);
                write(&path, &text).map_err(|source| LaunchError::File {
                    path: path.display().to_string(),
                    source,
                })?;
            }
        }
        Ok(())
    }

    /// Where a configuration file's path starts: at the case folder, or in each folder that holds
    /// the file beside which it stands.
    fn folders(&self, root: &Path, file: &ConfigFile) -> Vec<PathBuf> {
        let Some(beside) = &file.beside else { return vec![root.to_owned()] };
        let paths = self.variant.files.iter().map(|one| root.join(one.zone.name()).join(&one.path));
        paths
            .filter(|path| path.file_name().is_some_and(|name| name == beside.as_str()))
            .filter_map(|path| path.parent().map(Path::to_owned))
            .collect()
    }

    /// The process as a driver starts it.
    ///
    /// # Errors
    /// When the profile cannot express the run.
    pub fn resolve(&self) -> Result<ResolvedLaunch, LaunchError> {
        let policy = self.policy()?;
        if !policy.can_set(self.variant.network, self.launch.driver) {
            return Err(self.no_policy());
        }
        let (of_policy, network) = match &policy.acp {
            Some(acp) if self.launch.driver == DriverKind::Acp => (&acp.arguments, &acp.network),
            _ => (&policy.arguments, &policy.network),
        };
        let network = self.granted(network.as_ref());
        let values = FileValues { start: self, policy };
        let fill = |text: &String| render(text, &values).map_err(|source| self.template(source));
        let arguments = |templates: &Vec<String>| -> Result<Vec<Argument>, LaunchError> {
            let mut arguments = Vec::new();
            if self.interpreter.is_some() {
                arguments.push(Argument::Fixed(self.executable.display().to_string()));
            }
            for argument in templates {
                match argument.as_str() {
                    "${prompt}" => arguments.push(Argument::Prompt),
                    "${policy}" => {
                        let granted = network.into_iter().flatten();
                        for argument in of_policy.iter().chain(granted) {
                            arguments.push(Argument::Fixed(fill(argument)?));
                        }
                        for defect in self.defects {
                            arguments.push(Argument::Fixed(format!("--defect={defect}")));
                        }
                    }
                    _ => arguments.push(Argument::Fixed(fill(argument)?)),
                }
            }
            Ok(arguments)
        };
        let mut environment = IndexMap::new();
        for (name, value) in &self.profile.environment {
            environment.insert(name.clone(), fill(value)?);
        }
        Ok(ResolvedLaunch {
            program: self.interpreter.unwrap_or(self.executable).to_owned(),
            arguments: arguments(&self.launch.arguments)?,
            resume: self.launch.resume.as_ref().map(arguments).transpose()?,
            environment,
            directory: match &self.variant.start {
                Some(folder) => self.places.workspace.join(folder),
                None => self.places.workspace.clone(),
            },
            output: self.launch.output.clone(),
            thread: self.thread(policy),
            acp: AcpSettings {
                mode: policy.acp.as_ref().and_then(|acp| acp.mode.clone()),
                words: self.launch.acp.clone(),
            },
        })
    }

    fn thread(&self, policy: &PolicyLowering) -> Option<ThreadSettings> {
        let policy = policy.app_server.as_ref()?;
        let network = self.granted(policy.network.as_ref()).into_iter().flatten();
        let config = policy.config.iter().chain(network);
        Some(ThreadSettings {
            approval_policy: policy.approval_policy,
            sandbox: policy.sandbox,
            config: config.map(|(key, value)| (key.clone(), value.clone())).collect(),
        })
    }

    /// What gives commands the network, when they are to have it.
    fn granted<T>(&self, network: Option<T>) -> Option<T> {
        network.filter(|_| self.variant.network == Network::Allowed)
    }

    fn policy(&self) -> Result<&PolicyLowering, LaunchError> {
        let policy = self.profile.policy.get(&self.variant.policy);
        policy.filter(|policy| policy.is_for(self.launch.driver)).ok_or_else(|| self.no_policy())
    }

    fn no_policy(&self) -> LaunchError {
        LaunchError::Policy {
            profile: self.profile.name.clone(),
            policy: self.variant.policy.name(),
        }
    }

    fn template(&self, source: TemplateError) -> LaunchError {
        LaunchError::Template { profile: self.profile.name.clone(), source }
    }
}

/// Template values of one run; the names are those that a profile is checked against.
struct FileValues<'a> {
    start: &'a Start<'a>,
    policy: &'a PolicyLowering,
}

impl Values for FileValues<'_> {
    fn value(&self, name: &str) -> Option<String> {
        let places = self.start.places;
        let show = |path: &PathBuf| path.display().to_string();
        Some(match name {
            "mock" => places.mock.clone(),
            "workspace" => show(&places.workspace),
            "outside" => show(&places.outside),
            "home" => show(&places.home),
            "tmp" => show(&places.tmp),
            "api_key" => FAKE_KEY.to_owned(),
            "path" => self.start.path.to_owned(),
            "policy" => self.start.variant.policy.name().to_owned(),
            _ => return self.chosen(name),
        })
    }

    fn names(&self) -> Vec<String> {
        let fixed = ["mock", "workspace", "outside", "home", "tmp", "api_key", "path", "policy"];
        let chosen = self.of_wire().into_iter().chain(self.required()).chain([&self.policy.values]);
        let chosen = chosen.flat_map(IndexMap::keys).map(String::as_str);
        fixed.into_iter().chain(chosen).map(str::to_owned).collect()
    }
}

impl FileValues<'_> {
    /// A value that the policy, a required capability or the wire brings. A wire's own may hold the
    /// mock's address.
    fn chosen(&self, name: &str) -> Option<String> {
        let fixed = [&self.policy.values].into_iter().chain(self.required());
        if let Some(value) = fixed.into_iter().find_map(|values| values.get(name)) {
            return Some(value.clone());
        }
        let value = self.of_wire()?.get(name)?;
        let mock: &[(&str, String)] = &[("mock", self.start.places.mock.clone())];
        render(value, mock).ok()
    }

    fn required(&self) -> impl Iterator<Item = &IndexMap<String, String>> {
        self.start.profile.required.iter().map(|(capability, required)| {
            if self.start.requires.contains(capability) {
                &required.values
            } else {
                &required.otherwise
            }
        })
    }

    fn of_wire(&self) -> Option<&IndexMap<String, String>> {
        self.start.profile.wire.get(&self.start.wire).map(|lowering| &lowering.values)
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::profile::{ApprovalPolicy, Requirement, SandboxMode};
    use crate::agent::registry::Registry;
    use crate::check::fixture;
    use crate::scenario::Policy;

    /// Codex as its profile starts it.
    fn codex(
        driver: DriverKind,
        policy: Policy,
        network: Network,
    ) -> Result<ResolvedLaunch, LaunchError> {
        let file = Registry::default().profile("codex").expect("is built in");
        let profile = file.at(None);
        let launch = profile.drivers.iter().find(|launch| launch.driver == driver);
        let variant = Variant { policy, network, ..fixture::case().main };
        let start = Start {
            interpreter: None,
            wire: Wire::Responses,
            profile,
            launch: launch.expect("is declared"),
            executable: Path::new("/agents/codex"),
            defects: &[],
            path: "/bin",
            requires: &[],
            variant: &variant,
            places: &fixture::places(),
        };
        start.resolve()
    }

    #[test]
    fn a_policy_reaches_each_driver_in_its_own_way() {
        let exec = codex(DriverKind::Exec, Policy::Workspace, Network::Allowed).expect("known");
        let fixed = |text: &str| Argument::Fixed(text.to_owned());
        let network = "sandbox_workspace_write.network_access";
        let policy =
            [fixed("-s"), fixed("workspace-write"), fixed("-c"), fixed(&format!("{network}=true"))];
        assert_eq!(exec.arguments[3..7], policy);

        let server = |policy, network| {
            let launch = codex(DriverKind::AppServer, policy, network).expect("known");
            assert_eq!(launch.arguments, [fixed("app-server")]);
            launch.thread.expect("has settings")
        };
        let granted = server(Policy::Workspace, Network::Allowed);
        assert_eq!(granted.sandbox, SandboxMode::WorkspaceWrite);
        assert_eq!(granted.config, *json!({ network: true }).as_object().expect("is one"));
        let denied = server(Policy::Workspace, Network::Denied);
        assert!(denied.config.is_empty());
        let ask = server(Policy::Ask, Network::Denied);
        assert_eq!(ask.approval_policy, ApprovalPolicy::OnRequest);
        assert_eq!(ask.sandbox, SandboxMode::ReadOnly);
    }

    #[test]
    fn what_a_case_requires_is_switched_on_for_it_alone() {
        let mut profile = fixture::profile();
        let side = |value: &str| IndexMap::from([("memory".to_owned(), value.to_owned())]);
        let required = Requirement { values: side("on"), otherwise: side("off") };
        profile.required.insert(Capability::Memory, required);
        profile.environment.insert("MEMORY".to_owned(), "${memory}".to_owned());
        let places = fixture::places();
        let case = fixture::case();
        let set_for = |requires: &[Capability]| {
            let start = Start {
                interpreter: None,
                wire: Wire::Responses,
                profile: &profile,
                launch: &profile.drivers[0],
                executable: Path::new("/agents/mine"),
                defects: &[],
                path: "/bin",
                requires,
                variant: &case.main,
                places: &places,
            };
            start.resolve().expect("is whole").environment["MEMORY"].clone()
        };
        assert_eq!(set_for(&[Capability::Memory, Capability::Skills]), "on");
        assert_eq!(set_for(&[Capability::Skills]), "off");
    }

    #[test]
    fn a_driver_refuses_what_it_cannot_express() {
        for (driver, policy, network) in [
            (DriverKind::Exec, Policy::Ask, Network::Denied),
            (DriverKind::AppServer, Policy::Ask, Network::Allowed),
            (DriverKind::AppServer, Policy::ReadOnly, Network::Allowed),
        ] {
            let refused = codex(driver, policy, network).expect_err("cannot");
            assert!(matches!(refused, LaunchError::Policy { .. }), "{refused}");
        }
    }
}
