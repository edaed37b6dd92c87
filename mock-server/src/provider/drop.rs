//! What a provider loses of a request.

use std::sync::Arc;

use serde_json::Value;

use super::schema::Provider;
use crate::journal::Dropped;

/// The lists of a body that hold messages.
const LISTS: [&str; 2] = ["input", "messages"];

impl Provider {
    /// The body as the model reads it, and what was lost.
    pub(crate) fn read(&self, body: &Arc<Value>) -> (Arc<Value>, Vec<Dropped>) {
        let dropped = self.dropped(body);
        if dropped.is_empty() {
            return (Arc::clone(body), dropped);
        }
        let mut effective = Value::clone(body);
        for list in LISTS {
            if let Some(Value::Array(items)) = effective.get_mut(list) {
                items.retain(|item| self.dropped_role(item).is_none());
            }
        }
        (Arc::new(effective), dropped)
    }

    fn dropped(&self, body: &Value) -> Vec<Dropped> {
        if self.drops_roles.is_empty() {
            return Vec::new();
        }
        let lists = LISTS.iter().filter_map(|list| Some((list, body.get(list)?.as_array()?)));
        lists
            .flat_map(|(list, items)| {
                items.iter().enumerate().filter_map(move |(index, item)| {
                    let role = self.dropped_role(item)?.to_owned();
                    Some(Dropped { pointer: format!("/{list}/{index}"), role })
                })
            })
            .collect()
    }

    fn dropped_role<'v>(&self, item: &'v Value) -> Option<&'v str> {
        let role = item.get("role")?.as_str()?;
        // Tools that come as an item are no message.
        let is_message = matches!(item.get("type"), None | Some(Value::Null))
            || item.get("type").is_some_and(|kind| kind == "message");
        (is_message && self.drops_roles.iter().any(|dropped| dropped == role)).then_some(role)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_of_a_lost_role_are_not_read() {
        let provider = Provider::named("drops-developer").unwrap();
        let body = Arc::new(json!({"input": [
            {"role": "developer", "content": "Rules"},
            {"type": "additional_tools", "role": "developer", "tools": []},
            {"type": "message", "role": "user", "content": "Hi"},
        ]}));
        let (effective, dropped) = provider.read(&body);
        let at = Dropped { pointer: "/input/0".into(), role: "developer".into() };
        assert_eq!(dropped, [at]);
        assert_eq!(effective["input"].as_array().unwrap().len(), 2);
        assert_eq!(effective["input"][1]["role"], "user");
    }

    #[test]
    fn a_body_that_loses_nothing_is_the_same() {
        let body = Arc::new(json!({"messages": [{"role": "user", "content": "Hi"}]}));
        let (effective, dropped) = Provider::named("drops-developer").unwrap().read(&body);
        assert!(Arc::ptr_eq(&effective, &body) && dropped.is_empty());
    }
}
