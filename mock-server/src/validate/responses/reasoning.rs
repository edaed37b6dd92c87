//! Reasoning items, and the items that they led to.

use serde_json::Value;

use super::item::item_type;
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, text};

fn is_reasoning(item: &Value) -> bool {
    item_type(item) == Some("reasoning")
}

/// R9: a reasoning item has a `summary`, which may be empty.
pub(super) fn without_summary(subject: &Subject<'_>) -> Option<Broken> {
    let has_none = |item: &Value| is_reasoning(item) && !item["summary"].is_array();
    let (index, _) = subject.list("input").find(|(_, item)| has_none(item))?;
    let param = format!("input[{index}].summary");
    let message = format!("missing required parameter '{param}': it may be an empty list");
    Some(Broken::at(param, message))
}

/// R7: with `store: false`, an item is not named by its id alone.
pub(super) fn not_persisted(subject: &Subject<'_>) -> Option<Broken> {
    if subject.body.get("store") != Some(&Value::Bool(false)) {
        return None;
    }
    let id = subject.list("input").find_map(|(_, item)| match item_type(item)? {
        "reasoning" if text(item, "encrypted_content").is_none() => text(item, "id"),
        "item_reference" => text(item, "id"),
        _ => None,
    })?;
    Some(Broken::at(
        "input",
        format!(
            "Item with id '{id}' not found: with `store` false nothing is kept, so send the item \
             whole (reasoning with its encrypted content) or leave it out"
        ),
    ))
}

/// R8: the encrypted content of reasoning is what this server gave out.
pub(super) fn not_ours(subject: &Subject<'_>) -> Option<Broken> {
    let opaque = |(_, item)| text(item, "encrypted_content");
    subject
        .list("input")
        .filter(|(_, item)| is_reasoning(item))
        .filter_map(opaque)
        .find(|content| !subject.memory.gave_opaque(content))?;
    Some(Broken::whole("The encrypted content could not be verified: this server never gave it"))
}

/// R5: a reasoning item is followed by the item that it led to.
pub(super) fn leads_nowhere(subject: &Subject<'_>) -> Option<Broken> {
    let items: Vec<_> = subject.list("input").map(|(_, item)| item).collect();
    let follows = |next: Option<&&Value>| {
        next.is_some_and(|next| match item_type(next) {
            Some("message") => text(next, "role") == Some("assistant"),
            Some("reasoning" | "compaction" | "compaction_trigger" | "program") => true,
            Some(kind) => kind.ends_with("_call"),
            None => false,
        })
    };
    let id = items.iter().enumerate().find_map(|(index, item)| {
        let id = text(item, "id").filter(|id| id.starts_with("rs_"))?;
        (is_reasoning(item) && !follows(items.get(index + 1))).then_some(id)
    })?;
    Some(Broken::at(
        "input",
        format!("Item '{id}' of type 'reasoning' stands without the item that must follow it"),
    ))
}

/// R6: an item that this server gave after reasoning comes with that reasoning item.
pub(super) fn left_out(subject: &Subject<'_>) -> Option<Broken> {
    if subject.field("previous_response_id").is_some() {
        return None;
    }
    let mut before: Vec<&str> = Vec::new();
    for (_, item) in subject.list("input") {
        let Some(id) = text(item, "id") else { continue };
        if let Some(reasoning) = subject.memory.led_by(id)
            && !before.contains(&reasoning)
        {
            let kind = item_type(item).unwrap_or_default();
            return Some(Broken::at(
                "input",
                format!(
                    "Item '{id}' of type '{kind}' stands without the 'reasoning' item '{reasoning}' \
                     that led to it"
                ),
            ));
        }
        before.push(id);
    }
    None
}
