//! Facts about the service that is played: keys, models, tools.

use indexmap::IndexMap;
use serde::Deserialize;

/// What is stated of a service. What is not stated holds up no request.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Service {
    /// The API keys accepted; when empty, any key and none.
    pub keys: Vec<String>,
    /// The models that exist, by id; when empty, every model.
    pub models: IndexMap<String, ModelFacts>,
    /// What holds for a model that is not listed, or says nothing of its own.
    pub model: ModelFacts,
    /// The types of tools taken; when empty, `function` alone. Only rules C15 and P2 ask.
    pub tool_types: Vec<String>,
}

/// What is stated of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFacts {
    /// Its context window, in tokens as the mock counts them (one for four characters).
    pub window: Option<u64>,
    /// The most tokens that it writes.
    pub max_output: Option<u64>,
    /// Whether it reasons.
    pub reasoning: Option<bool>,
    /// The efforts that it takes.
    pub efforts: Option<Vec<String>>,
    /// Whether it reads images.
    pub images: Option<bool>,
    /// The kinds of thinking that it takes (`enabled`, `adaptive`, …; Messages).
    pub thinking: Option<Vec<String>>,
    /// Whether it goes on with an assistant message at the end (Messages).
    pub prefill: Option<bool>,
    /// Whether it takes system messages inside the conversation (Messages).
    pub system_messages: Option<bool>,
}

impl Service {
    /// The facts of a model: its own, then those of every model.
    pub(crate) fn facts(&self, model: &str) -> ModelFacts {
        let every = &self.model;
        self.models.get(model).map_or_else(|| every.clone(), |own| own.or(every))
    }

    /// Whether the service has the model.
    pub(crate) fn has(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.contains_key(model)
    }

    /// Whether the service takes tools of this type.
    pub(super) fn takes_tool(&self, tool_type: &str) -> bool {
        if self.tool_types.is_empty() {
            tool_type == "function"
        } else {
            self.tool_types.iter().any(|taken| taken == tool_type)
        }
    }

    /// These facts, and where they say nothing, the others.
    #[must_use]
    pub(crate) fn or(&self, other: &Self) -> Self {
        let first = |own: &Vec<String>, other: &Vec<String>| {
            if own.is_empty() { other.clone() } else { own.clone() }
        };
        Self {
            keys: first(&self.keys, &other.keys),
            models: if self.models.is_empty() { other.models.clone() } else { self.models.clone() },
            model: self.model.or(&other.model),
            tool_types: first(&self.tool_types, &other.tool_types),
        }
    }
}

impl ModelFacts {
    fn or(&self, other: &Self) -> Self {
        Self {
            window: self.window.or(other.window),
            max_output: self.max_output.or(other.max_output),
            reasoning: self.reasoning.or(other.reasoning),
            efforts: self.efforts.clone().or_else(|| other.efforts.clone()),
            images: self.images.or(other.images),
            thinking: self.thinking.clone().or_else(|| other.thinking.clone()),
            prefill: self.prefill.or(other.prefill),
            system_messages: self.system_messages.or(other.system_messages),
        }
    }
}
