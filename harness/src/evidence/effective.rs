//! Effective bodies: a request that continues an earlier response means that response's whole
//! history, and is judged as such.

use std::collections::HashMap;
use std::sync::Arc;

use conform_mock_server::journal::Served;
use serde_json::{Map, Value};

/// Gives the output items of a served reply in their native form, if they are known.
pub type OutputItems<'a> = &'a dyn Fn(&Served) -> Option<Vec<Value>>;

/// No output items are known: a chain of responses cannot be rebuilt.
pub fn outputs_unknown(_: &Served) -> Option<Vec<Value>> {
    None
}

/// Rebuilds the bodies of a run, which are given in order.
pub struct EffectiveBodies<'a> {
    outputs: OutputItems<'a>,
    responses: HashMap<String, History>,
}

/// What a response id stands for.
enum History {
    /// All input and output items up to and with the response.
    Items(Vec<Value>),
    /// It was given, but what stood in it is not known.
    Unknown,
}

/// A body as it is to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveBody {
    /// The body, with the whole history in `input` and without `previous_response_id`; as sent
    /// where nothing is continued.
    pub body: Arc<Value>,
    /// Why a continued body could not be rebuilt; it is then as sent.
    pub problem: Option<String>,
}

impl<'a> EffectiveBodies<'a> {
    /// Starts with no responses.
    pub fn new(outputs: OutputItems<'a>) -> Self {
        Self { outputs, responses: HashMap::new() }
    }

    /// The effective body of the next request, which got this answer.
    ///
    /// Instructions are not carried along a chain (`OpenAI` Responses API reference,
    /// `previous_response_id`), so they are those of the request itself.
    pub fn next(&mut self, sent: &Arc<Value>, answer: Option<&Served>) -> EffectiveBody {
        let effective = self.rebuild(sent);
        if let Some(served) = answer {
            let history = match (&effective.problem, (self.outputs)(served)) {
                (None, Some(outputs)) => {
                    let mut items = input_items(&effective.body);
                    items.extend(outputs);
                    History::Items(items)
                }
                _ => History::Unknown,
            };
            self.responses.insert(served.response_id.clone(), history);
        }
        effective
    }

    fn rebuild(&self, sent: &Arc<Value>) -> EffectiveBody {
        let Some(previous) = sent.get("previous_response_id").filter(|id| !id.is_null()) else {
            return EffectiveBody { body: Arc::clone(sent), problem: None };
        };
        let fail = |why: String| EffectiveBody { body: Arc::clone(sent), problem: Some(why) };
        let Some(id) = previous.as_str() else {
            return fail(format!("previous_response_id is {previous}, not a text"));
        };
        match self.responses.get(id) {
            Some(History::Items(items)) => {
                let mut items = items.clone();
                items.extend(input_items(sent));
                let body = sent
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(key, _)| *key != "previous_response_id")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .chain(std::iter::once(("input".to_owned(), Value::Array(items))))
                    .collect::<Map<_, _>>();
                EffectiveBody { body: Arc::new(Value::Object(body)), problem: None }
            }
            Some(History::Unknown) => fail(format!(
                "it continues response {id}, whose items are not known to the harness"
            )),
            None => fail(format!("it continues response {id}, which the mock never gave")),
        }
    }
}

impl std::fmt::Debug for EffectiveBodies<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EffectiveBodies").field("responses", &self.responses.len()).finish()
    }
}

/// The input as items; a plain text is one user message.
fn input_items(body: &Value) -> Vec<Value> {
    match body.get("input") {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::String(text)) => {
            vec![serde_json::json!({"type": "message", "role": "user", "content": text})]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn served(id: &str) -> Served {
        Served { turn: 0, label: "turn 1".into(), response_id: id.into(), call_ids: Vec::new() }
    }

    fn item(text: &str) -> Value {
        json!({"type": "message", "role": "user", "content": text})
    }

    #[test]
    fn a_whole_request_stays_as_sent() {
        let mut bodies = EffectiveBodies::new(&outputs_unknown);
        let sent = Arc::new(json!({"input": [item("a")], "previous_response_id": null}));
        let effective = bodies.next(&sent, Some(&served("resp_1")));
        assert_eq!(effective, EffectiveBody { body: sent, problem: None });
    }

    #[test]
    fn a_chain_is_rebuilt_over_every_link() {
        let outputs = |served: &Served| Some(vec![json!({"said": served.response_id})]);
        let mut bodies = EffectiveBodies::new(&outputs);
        bodies.next(
            &Arc::new(json!({"instructions": "base", "input": "a"})),
            Some(&served("resp_1")),
        );
        bodies.next(
            &Arc::new(json!({"previous_response_id": "resp_1", "input": [item("b")]})),
            Some(&served("resp_2")),
        );
        let last = Arc::new(json!({
            "model": "m", "previous_response_id": "resp_2", "input": [item("c")], "tools": []
        }));
        let effective = bodies.next(&last, None);
        assert_eq!(effective.problem, None);
        assert_eq!(
            *effective.body,
            json!({
                "model": "m",
                "input": [
                    item("a"), {"said": "resp_1"}, item("b"), {"said": "resp_2"}, item("c")
                ],
                "tools": []
            })
        );
    }

    #[test]
    fn what_cannot_be_rebuilt_is_a_problem_and_stays_one_along_the_chain() {
        let mut bodies = EffectiveBodies::new(&outputs_unknown);
        bodies.next(&Arc::new(json!({"input": "a"})), Some(&served("resp_1")));
        let second = Arc::new(json!({"previous_response_id": "resp_1", "input": "b"}));
        let effective = bodies.next(&second, Some(&served("resp_2")));
        assert!(effective.problem.is_some_and(|why| why.contains("not known")));
        let third = Arc::new(json!({"previous_response_id": "resp_2", "input": "c"}));
        assert!(bodies.next(&third, None).problem.is_some());
        let stranger = Arc::new(json!({"previous_response_id": "resp_9", "input": "c"}));
        let effective = bodies.next(&stranger, None);
        assert!(effective.problem.is_some_and(|why| why.contains("never gave")));
        let number = Arc::new(json!({"previous_response_id": 3, "input": "c"}));
        assert!(bodies.next(&number, None).problem.is_some());
    }
}
