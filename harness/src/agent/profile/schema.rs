//! The form of a profile as a JSON Schema, for editors and for people who write one.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use conform_mock_server::capture::Authority;
use conform_mock_server::wire::Wire;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::Profile;

/// The JSON Schema (draft 2020-12) of a profile, as it reads when the TOML is taken as JSON. What
/// it cannot say, such as whether a template can be filled, [`Profile::validate`] finds.
pub fn schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.into_generator().into_root_schema_for::<Profile>()
}

/// What allows these names alone.
pub(super) fn one_of<T>(names: &[(&str, T)]) -> Value {
    let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    json!({ "enum": names })
}

/// What allows the names of wires alone.
pub(super) fn wires() -> Value {
    json!({ "enum": Wire::ALL.map(Wire::name) })
}

/// The name of a wire.
pub(super) enum WireName {}

impl JsonSchema for WireName {
    fn schema_name() -> Cow<'static, str> {
        "Wire".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A wire protocol.",
            "enum": Wire::ALL.map(Wire::name),
        })
    }
}

/// The name of an authority.
pub(super) enum AuthorityName {}

impl JsonSchema for AuthorityName {
    fn schema_name() -> Cow<'static, str> {
        "Authority".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What a role grants to a text, from the least to the most.",
            "enum": Authority::ALL.map(Authority::name),
        })
    }
}
