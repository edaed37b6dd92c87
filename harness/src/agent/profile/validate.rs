//! What is wrong with a profile beyond its form.

use conform_mock_server::document::did_you_mean;
use conform_mock_server::wire::Wire;
use indexmap::IndexMap;

use super::{AcpSteer, LOGICAL_TOOLS, Launch, Profile};
use crate::agent::template::{TemplateError, render};
use crate::driver::DriverKind;
use crate::scenario::{Capability, Zone};

/// What is wrong with a profile beyond its form.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A format of another time.
    #[error("`schema = {found}` is not known to this version of conform; it reads schema 1")]
    Schema {
        /// The schema found.
        found: u32,
    },
    /// An empty list that must not be empty.
    #[error("`{field}` is empty; name at least one")]
    Empty {
        /// The field.
        field: &'static str,
    },
    /// A tool with both arguments and input, or neither.
    #[error("`tools.{tool}` needs either `arguments` or `input`")]
    ToolForm {
        /// The logical tool.
        tool: String,
    },
    /// A policy for a driver that cannot express it.
    #[error(
        "`policy.{policy}` is for the driver `{driver}`, which needs a place in `drivers` of the profile and of the policy, and for `app-server` and `acp` a table of that name"
    )]
    PolicyDriver {
        /// The policy.
        policy: &'static str,
        /// The driver.
        driver: &'static str,
    },
    /// A logical tool that no scenario can call.
    #[error("`tools.{tool}` is not a logical tool: {help}")]
    UnknownTool {
        /// The name.
        tool: String,
        /// The next step.
        help: String,
    },
    /// A folder outside the case tree.
    #[error(
        "`kept-in`: `{folder}` is no folder below the case's; write it as `workspace/.mine/skills` or `home/.mine/skills`"
    )]
    KeptIn {
        /// The folder.
        folder: String,
    },
    /// A value that is there only sometimes.
    #[error(
        "`required.{capability}`: `{name}` stands on one side of `values` and `otherwise` only; give it a value on both"
    )]
    Required {
        /// The capability.
        capability: &'static str,
        /// The value's name.
        name: String,
    },
    /// A capability without the figure that it needs.
    #[error(
        "a driver has the capability `compact-by-usage`, which needs the figure `full-usage` in `[contract]`; add it"
    )]
    FullUsage,
    /// A template that cannot be filled.
    #[error("`{field}`: {source}")]
    Template {
        /// The field.
        field: String,
        /// What is wrong.
        source: TemplateError,
    },
}

impl Profile {
    /// Looks for what the form cannot show: empty lists, templates that cannot be filled.
    ///
    /// # Errors
    /// The first thing found.
    pub fn validate(&self) -> Result<(), ProfileError> {
        if self.schema != 1 {
            return Err(ProfileError::Schema { found: self.schema });
        }
        if self.versions.is_empty() {
            return Err(ProfileError::Empty { field: "versions" });
        }
        if self.drivers.is_empty() {
            return Err(ProfileError::Empty { field: "drivers" });
        }
        if self.drivers.iter().any(|launch| launch.wires.is_empty()) {
            return Err(ProfileError::Empty { field: "drivers.wires" });
        }
        if let Some(folder) = self.kept_in.values().find(|folder| !is_in_tree(folder)) {
            return Err(ProfileError::KeptIn { folder: folder.clone() });
        }
        for (capability, required) in &self.required {
            let (values, otherwise) = (&required.values, &required.otherwise);
            let mut names = values.keys().chain(otherwise.keys());
            let lonely =
                names.find(|name| !values.contains_key(*name) || !otherwise.contains_key(*name));
            if let Some(name) = lonely {
                let (capability, name) = (capability.name(), name.clone());
                return Err(ProfileError::Required { capability, name });
            }
        }
        let by_usage = |launch: &Launch| launch.capabilities.contains(&Capability::CompactByUsage);
        if self.contract.full_usage.is_none() && self.drivers.iter().any(by_usage) {
            return Err(ProfileError::FullUsage);
        }
        self.validate_policies()?;
        self.validate_tools()?;
        self.validate_templates()
    }

    /// A policy for a driver that is not there is a slip that would only show as skipped cases.
    pub(super) fn validate_policies(&self) -> Result<(), ProfileError> {
        for (policy, lowering) in &self.policy {
            let tables = [
                lowering.app_server.as_ref().map(|_| DriverKind::AppServer),
                lowering.acp.as_ref().map(|_| DriverKind::Acp),
            ];
            let tables = tables.into_iter().flatten();
            for driver in lowering.drivers.iter().flatten().copied().chain(tables) {
                let is_there = self.drivers.iter().any(|launch| launch.driver == driver);
                if !is_there || !lowering.is_for(driver) {
                    let (policy, driver) = (policy.name(), driver.name());
                    return Err(ProfileError::PolicyDriver { policy, driver });
                }
            }
        }
        Ok(())
    }

    fn validate_tools(&self) -> Result<(), ProfileError> {
        for (tool, lowering) in &self.tools {
            let Some((_, arguments)) = LOGICAL_TOOLS.iter().find(|(name, _)| name == tool) else {
                let help = did_you_mean(tool, LOGICAL_TOOLS.iter().map(|(name, _)| *name));
                return Err(ProfileError::UnknownTool { tool: tool.clone(), help });
            };
            let values: Vec<_> = arguments.iter().map(|name| (*name, String::new())).collect();
            let mut next = Some(lowering);
            while let Some(lowering) = next {
                if lowering.arguments.is_empty() == lowering.input.is_none() {
                    return Err(ProfileError::ToolForm { tool: tool.clone() });
                }
                let mut texts: Vec<&str> = lowering.input.iter().map(String::as_str).collect();
                lowering.arguments.values().for_each(|value| strings(value, &mut texts));
                for text in texts {
                    check_template(&format!("tools.{tool}"), text, values.as_slice())?;
                }
                next = lowering.then.as_deref();
            }
        }
        Ok(())
    }

    fn validate_templates(&self) -> Result<(), ProfileError> {
        for launch in &self.drivers {
            for wire in &launch.wires {
                self.validate_launch(launch, *wire)?;
            }
        }
        Ok(())
    }

    fn validate_launch(&self, launch: &Launch, wire: Wire) -> Result<(), ProfileError> {
        let places = ["mock", "workspace", "outside", "home", "tmp", "api_key", "path"];
        let of_wire = self.wire.get(&wire).map(|lowering| &lowering.values);
        let required = self.required.values().map(|required| &required.values);
        let chosen: Vec<&str> = of_wire
            .into_iter()
            .chain(required)
            .flat_map(IndexMap::keys)
            .map(String::as_str)
            .collect();
        let with = |more: &[&'static str]| -> Vec<(&str, String)> {
            let names = places.iter().chain(more).chain(&chosen);
            names.map(|name| (*name, String::new())).collect()
        };
        let field = |field: &str| format!("{field} over {wire}");
        for (name, text) in self.wire.get(&wire).into_iter().flat_map(|lowering| &lowering.values) {
            let values: &[(&str, String)] = &[("mock", String::new())];
            check_template(&format!("wire.{wire}.values.{name}"), text, values)?;
        }
        for (name, text) in &self.environment {
            check_template(&field(&format!("environment.{name}")), text, with(&[]).as_slice())?;
        }
        for text in launch.arguments.iter().chain(launch.resume.iter().flatten()) {
            let values = with(&["prompt", "policy"]);
            check_template(&field("drivers.arguments"), text, values.as_slice())?;
        }
        for (name, text) in launch.acp.templates() {
            let values = AcpSteer::VALUES.map(|name| (name, String::new()));
            check_template(&format!("drivers.acp.{name}"), text, values.as_slice())?;
        }
        for (policy, lowering) in &self.policy {
            for file in &self.files {
                let mut values = with(&["policy"]);
                values.extend(lowering.values.keys().map(|name| (name.as_str(), String::new())));
                let field = field(&format!("files, {} under policy {}", file.path, policy.name()));
                check_template(&field, &file.text, values.as_slice())?;
            }
        }
        Ok(())
    }
}

/// Whether a folder stands in one of a case's folders.
fn is_in_tree(folder: &str) -> bool {
    let mut parts = folder.split('/');
    let zone = parts.next();
    Zone::ALL.iter().any(|known| zone == Some(known.name()))
        && parts.clone().count() > 0
        && parts.all(|part| !["", ".", ".."].contains(&part))
}

fn check_template(
    field: &str,
    template: &str,
    values: &[(&str, String)],
) -> Result<(), ProfileError> {
    render(template, values)
        .map(drop)
        .map_err(|source| ProfileError::Template { field: field.to_owned(), source })
}

fn strings<'v>(value: &'v toml::Value, found: &mut Vec<&'v str>) {
    match value {
        toml::Value::String(text) => found.push(text),
        toml::Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        toml::Value::Table(table) => table.values().for_each(|item| strings(item, found)),
        _ => {}
    }
}
