//! Settings of a request.

use serde_json::Value;

use crate::validate::broken::Broken;
use crate::validate::credential::{self, KeyProblem};
use crate::validate::schema;
use crate::validate::subject::{Subject, text};

/// R36: the request carries an API key that the service accepts.
pub(in crate::validate) fn key(subject: &Subject<'_>) -> Option<Broken> {
    Some(match credential::problem(subject.headers, subject.service)? {
        KeyProblem::Missing => Broken::whole(
            "no API key was sent: put it into the Authorization header, as in 'Bearer KEY'",
        )
        .code(None),
        KeyProblem::Wrong => Broken::whole("Incorrect API key provided"),
    })
}

/// R21: a request names a model.
pub(in crate::validate) fn model_missing(subject: &Subject<'_>) -> Option<Broken> {
    let is_missing = match subject.field("model") {
        None => true,
        Some(Value::String(model)) => model.is_empty(),
        Some(_) => false,
    };
    is_missing.then(|| Broken::at("model", "missing required parameter: 'model'"))
}

/// R22: the model is one that the service has.
pub(in crate::validate) fn model_unknown(subject: &Subject<'_>) -> Option<Broken> {
    let model = subject.text("model").filter(|model| !model.is_empty())?;
    let message = format!("The model '{model}' does not exist, or this key has no access to it");
    (!subject.service.has(model)).then(|| Broken::at("model", message))
}

/// R28: a previous response and a conversation are not named together.
pub(super) fn two_histories(subject: &Subject<'_>) -> Option<Broken> {
    subject.field("previous_response_id")?;
    subject.field("conversation")?;
    Some(Broken::whole("give 'previous_response_id' or 'conversation', not both"))
}

/// R25: the model takes the settings that it gets.
pub(super) fn unsupported_parameter(subject: &Subject<'_>) -> Option<Broken> {
    let refused: &[&str] = if subject.facts().reasoning? {
        &["temperature", "top_p", "top_logprobs"]
    } else {
        &["reasoning"]
    };
    let name = refused.iter().find(|name| subject.field(name).is_some())?;
    let message = format!("Unsupported parameter: '{name}' does not go with this model");
    Some(Broken::at(*name, message))
}

/// R26: effort, summary and verbosity have values that the model supports.
pub(super) fn unsupported_value(subject: &Subject<'_>) -> Option<Broken> {
    let known = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let efforts = subject
        .facts()
        .efforts
        .unwrap_or_else(|| known(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]));
    let settings: [(&str, &str, Vec<String>); 3] = [
        ("reasoning", "effort", efforts),
        ("reasoning", "summary", known(&["auto", "concise", "detailed"])),
        ("text", "verbosity", known(&["low", "medium", "high"])),
    ];
    settings.into_iter().find_map(|(group, name, supported)| {
        let value = text(subject.field(group)?, name)?;
        let listed = supported.join("', '");
        (!supported.iter().any(|supported| supported == value)).then(|| {
            Broken::at(
                format!("{group}.{name}"),
                format!("Unsupported value: '{value}'; this model takes '{listed}'"),
            )
        })
    })
}

/// R19: an output format has a usable JSON schema.
pub(super) fn output_format(subject: &Subject<'_>) -> Option<Broken> {
    let format = subject.field("text")?.get("format")?;
    if text(format, "type") != Some("json_schema") {
        return None;
    }
    let param = "text.format.schema";
    let problem = match format.get("schema") {
        None => Some("the format needs a 'schema'".to_owned()),
        Some(schema) => schema::not_object(schema).or_else(|| {
            let is_strict = format.get("strict") == Some(&Value::Bool(true));
            is_strict.then(|| schema::not_closed(schema)).flatten()
        }),
    };
    let name = text(format, "name").unwrap_or_default();
    problem.map(|problem| {
        Broken::at(param, format!("invalid schema for the output format '{name}': {problem}"))
    })
}

/// R34: metadata keeps to its limits.
pub(super) fn metadata(subject: &Subject<'_>) -> Option<Broken> {
    const PAIRS: usize = 16;
    const KEY: usize = 64;
    const VALUE: usize = 512;
    let map = subject.field("metadata")?.as_object()?;
    if map.len() > PAIRS {
        let message = format!("metadata has {} pairs; it may have {PAIRS}", map.len());
        return Some(Broken::at("metadata", message).code(Some("object_above_max_properties")));
    }
    map.iter().find_map(|(key, value)| {
        let length = |text: &str| text.chars().count();
        if length(key) > KEY {
            let message = format!("a key of metadata has {} characters of {KEY}", length(key));
            return Some(Broken::at("metadata", message));
        }
        let value = length(value.as_str()?);
        (value > VALUE).then(|| {
            Broken::at("metadata", format!("metadata '{key}' has {value} characters of {VALUE}"))
        })
    })
}

/// R39: the ways of the `ChatGPT` backend.
pub(super) fn chatgpt_backend(subject: &Subject<'_>) -> Option<Broken> {
    let has_instructions = subject.text("instructions").is_some_and(|text| !text.is_empty())
        || subject.list("input").any(|(_, item)| text(item, "role") == Some("developer"));
    let problem = if subject.body.get("store") != Some(&Value::Bool(false)) {
        "Store must be set to false"
    } else if !subject.is_true("stream") {
        "Stream must be set to true"
    } else if subject.field("max_output_tokens").is_some() {
        "Unsupported parameter: max_output_tokens"
    } else if !has_instructions {
        "Instructions are required"
    } else {
        return None;
    };
    Some(Broken::whole(problem))
}
