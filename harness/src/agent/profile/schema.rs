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
use super::changed::FIXED;

/// What the name of a definition begins with that describes a part of a profile in an overlay.
const PART: &str = "Changed";

/// The JSON Schema (draft 2020-12) of a profile, as it reads when the TOML is taken as JSON. What
/// it cannot say, such as whether a template can be filled, [`Profile::validate`] finds.
pub fn schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Profile>();
    let mut overlay = part(schema.as_value());
    let parts = overlay.as_object_mut().and_then(|overlay| overlay.remove("$defs"));
    if let Some(overlay) = overlay.as_object_mut() {
        for key in ["$schema", "title", "description"] {
            overlay.remove(key);
        }
    }
    if let Some(keys) = overlay.get_mut("properties").and_then(Value::as_object_mut) {
        for key in FIXED {
            keys.remove(key);
        }
        keys.insert("before".to_owned(), version("The first newer version that is not meant."));
        keys.insert("since".to_owned(), version("The oldest version that is meant."));
    }
    overlay["anyOf"] = json!([{ "required": ["before"] }, { "required": ["since"] }]);
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        if let Some(Value::Object(parts)) = parts {
            let parts = parts.into_iter().map(|(name, part)| (format!("{PART}{name}"), part));
            definitions.extend(parts);
        }
        definitions.insert(PART.to_owned(), overlay);
    }
    schema
}

/// The overlays of a profile; [`schema`] brings what the reference stands for.
pub(super) fn changed(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "$ref": format!("#/$defs/{PART}") } })
}

fn version(about: &str) -> Value {
    json!({ "description": about, "type": "string" })
}

/// The form of what an overlay may hold of a thing: any part of it.
fn part(whole: &Value) -> Value {
    match whole {
        Value::Object(keys) => {
            let keys = keys.iter().filter_map(|(key, value)| match (key.as_str(), value) {
                ("required", Value::Array(_)) => None,
                // A part may fit more than one form.
                ("oneOf", Value::Array(_)) => Some(("anyOf".to_owned(), part(value))),
                ("$ref", Value::String(name)) => {
                    let name = name.replacen("#/$defs/", &format!("#/$defs/{PART}"), 1);
                    Some((key.clone(), Value::String(name)))
                }
                _ => Some((key.clone(), part(value))),
            });
            Value::Object(keys.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(part).collect()),
        other => other.clone(),
    }
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
