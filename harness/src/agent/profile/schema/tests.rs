use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::schema;

fn validator() -> Validator {
    jsonschema::validator_for(schema().as_value()).expect("a schema")
}

fn built_in() -> Vec<(String, Value)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the profiles") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let text = std::fs::read_to_string(&path).expect("a text");
            let table: Value = toml::from_str(&text).expect("TOML");
            found.push((path.display().to_string(), table));
        }
    }
    assert!(found.len() >= 7, "{}", found.len());
    found
}

#[test]
fn every_profile_has_the_form() {
    let validator = validator();
    for (path, profile) in built_in() {
        let errors: Vec<String> =
            validator.iter_errors(&profile).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{path}");
    }
}

#[test]
fn what_the_reader_refuses_has_not_the_form() {
    let validator = validator();
    let (_, lab) = built_in().into_iter().find(|(path, _)| path.ends_with("lab.toml")).expect("it");
    let refused = |pointer: &str, key: &str, value: Value| {
        let mut profile = lab.clone();
        profile.pointer_mut(pointer).expect("there")[key] = value;
        let text = toml::to_string(&profile).expect("TOML");
        assert!(toml::from_str::<crate::agent::profile::Profile>(&text).is_err(), "{key}");
        assert!(!validator.is_valid(&profile), "{key}");
    };
    refused("", "titel", json!("a slip"));
    refused("", "title", json!(1));
    refused("/drivers/0", "driver", json!("telnet"));
    refused("/drivers/0", "wires", json!(["morse"]));
    refused("/drivers/0", "capabilities", json!(["flight"]));
    refused("/install", "source", json!("floppy"));
    refused("/contract", "rules-authority", json!("king"));
    refused("/tools/shell", "arguments", json!("a text"));
    refused("/policy", "anarchy", json!({}));
}

#[test]
fn every_key_says_what_it_is() {
    let schema = schema();
    let properties = schema.as_value()["properties"].as_object().expect("properties");
    let silent: BTreeSet<&String> = properties
        .iter()
        .filter(|(_, property)| property["description"].as_str().is_none_or(str::is_empty))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(silent, BTreeSet::new());
}

#[test]
fn an_overlay_may_hold_any_part_of_a_profile_and_nothing_else() {
    let validator = validator();
    let (_, lab) = built_in().into_iter().find(|(path, _)| path.ends_with("lab.toml")).expect("it");
    let is_valid = |overlay: Value| {
        let mut profile = lab.clone();
        profile["changed"] = json!([overlay]);
        validator.is_valid(&profile)
    };
    for part in [
        json!({ "title": "Other" }),
        json!({ "install": { "executable": "old/tool" } }),
        json!({ "drivers": [{ "driver": "exec", "output": { "format": "text" } }] }),
        json!({ "drivers": [{ "driver": "exec", "arguments": [] }] }),
        json!({ "required": { "memory": { "values": { "a": "b" } } } }),
        json!({ "policy": { "ask": { "network": [] } }, "tools": { "shell": { "native": "sh" } } }),
        json!({ "since": "0.1.0" }),
    ] {
        let mut overlay = part;
        overlay["before"] = json!("1.0.0");
        assert!(is_valid(overlay.clone()), "{overlay}");
    }
    assert!(is_valid(json!({ "since": "1.0.0" })));
    for slip in [
        json!({ "title": "no range" }),
        json!({ "before": 1 }),
        json!({ "before": "1.0.0", "titel": "a slip" }),
        json!({ "before": "1.0.0", "name": "other" }),
        json!({ "before": "1.0.0", "schema": 1 }),
        json!({ "before": "1.0.0", "versions": ["1.0.0"] }),
        json!({ "before": "1.0.0", "changed": [] }),
        json!({ "before": "1.0.0", "tools": { "shell": { "nativ": "sh" } } }),
        json!({ "before": "1.0.0", "drivers": [{ "driver": "telnet" }] }),
        json!({ "before": "1.0.0", "policy": { "anarchy": {} } }),
    ] {
        assert!(!is_valid(slip.clone()), "{slip}");
    }
}
