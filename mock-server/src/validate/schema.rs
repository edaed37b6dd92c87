//! JSON schemas, as far as services look at them before a model does.

use serde_json::Value;

/// Why a schema is no object schema, if it is none. An empty schema stands for no parameters.
pub(super) fn not_object(schema: &Value) -> Option<String> {
    let Value::Object(map) = schema else {
        return Some("the schema must be a JSON object".to_owned());
    };
    match map.get("type") {
        Some(Value::String(name)) if name == "object" => None,
        None if map.is_empty() => None,
        Some(other) => {
            Some(format!("the schema must have the type \"object\", but it has {other}"))
        }
        None => Some("the schema must have the type \"object\", but it has none".to_owned()),
    }
}

/// The first place where a schema is not closed: each object must have
/// `additionalProperties: false` and require all of its properties.
pub(super) fn not_closed(schema: &Value) -> Option<String> {
    not_closed_at(schema, &mut Vec::new())
}

fn not_closed_at(schema: &Value, path: &mut Vec<String>) -> Option<String> {
    let Value::Object(map) = schema else { return None };
    let properties = map.get("properties").and_then(Value::as_object);
    if properties.is_some() || map.get("type").is_some_and(|kind| kind == "object") {
        let place = || format!("in context=({})", path.join(", "));
        if map.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Some(format!("{}, 'additionalProperties' must be there and false", place()));
        }
        let required = map.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|list| list.iter().any(|entry| entry == name));
        let missing =
            properties.into_iter().flatten().map(|(name, _)| name).find(|name| !is_required(name));
        if let Some(name) = missing {
            return Some(format!("{}, 'required' must name '{name}' too", place()));
        }
    }
    for (key, value) in map {
        let below: Vec<(Option<&str>, &Value)> = match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(map)) => {
                map.iter().map(|(name, schema)| (Some(name.as_str()), schema)).collect()
            }
            ("items", schema @ Value::Object(_)) => vec![(None, schema)],
            ("anyOf" | "allOf" | "oneOf" | "items", Value::Array(list)) => {
                list.iter().map(|schema| (None, schema)).collect()
            }
            _ => continue,
        };
        for (name, schema) in below {
            let depth = path.len();
            path.push(format!("'{key}'"));
            path.extend(name.map(|name| format!("'{name}'")));
            let found = not_closed_at(schema, path);
            path.truncate(depth);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_open_object_is_named() {
        let closed = json!({
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}}}},
            "required": ["a"],
            "additionalProperties": false,
        });
        assert_eq!(
            not_closed(&closed).unwrap(),
            "in context=('properties', 'a', 'items'), 'additionalProperties' must be there and false"
        );
        let mut closed = closed;
        closed["properties"]["a"]["items"]["additionalProperties"] = json!(false);
        assert_eq!(not_closed(&closed), None);
        closed["required"] = json!([]);
        assert_eq!(not_closed(&closed).unwrap(), "in context=(), 'required' must name 'a' too");
    }

    #[test]
    fn an_object_schema_says_so() {
        assert_eq!(not_object(&json!({"type": "object"})), None);
        assert_eq!(not_object(&json!({})), None);
        for wrong in [json!([]), json!({"type": "string"}), json!({"properties": {}})] {
            assert!(not_object(&wrong).is_some(), "{wrong}");
        }
    }
}
