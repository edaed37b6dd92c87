//! The providers that are built in.

use super::schema::Provider;

/// Names and files, in the order of lists.
const FILES: [(&str, &str); 14] = [
    ("openai", include_str!("../../providers/openai.toml")),
    ("openai-strict", include_str!("../../providers/openai-strict.toml")),
    ("openai-no-developer", include_str!("../../providers/openai-no-developer.toml")),
    ("drops-developer", include_str!("../../providers/drops-developer.toml")),
    ("one-leading-system", include_str!("../../providers/one-leading-system.toml")),
    ("chat-template-server", include_str!("../../providers/chat-template-server.toml")),
    ("pydantic-server", include_str!("../../providers/pydantic-server.toml")),
    ("chatgpt-backend", include_str!("../../providers/chatgpt-backend.toml")),
    ("azure-like", include_str!("../../providers/azure-like.toml")),
    ("deepseek-like", include_str!("../../providers/deepseek-like.toml")),
    ("mistral-like", include_str!("../../providers/mistral-like.toml")),
    ("ollama-like", include_str!("../../providers/ollama-like.toml")),
    ("anthropic", include_str!("../../providers/anthropic.toml")),
    ("anthropic-strict", include_str!("../../providers/anthropic-strict.toml")),
];

impl Provider {
    /// The names of the providers that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// A provider that is built in, by its name.
    pub fn named(name: &str) -> Option<Self> {
        let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
        // Every file is read in a test.
        Self::parse(text).ok()
    }

    /// All providers that are built in.
    pub fn builtin() -> impl Iterator<Item = Self> {
        Self::names().filter_map(Self::named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_can_be_read_and_has_its_name() {
        for (name, text) in FILES {
            let provider = Provider::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(provider.name, name);
            assert!(!provider.wires.is_empty(), "{name}");
            assert!(provider.summary.ends_with('.'), "{name}");
        }
    }

    #[test]
    fn every_rule_is_of_a_wire_that_the_provider_speaks() {
        for provider in Provider::builtin() {
            let named = provider.rules.on.iter().chain(provider.errors.rules.keys());
            for rule in named {
                // The rules of key and model are the same on both wires of the API.
                let wire = rule.rule().wire;
                let name = &provider.name;
                assert!(provider.speaks(wire) || rule.name().starts_with('R'), "{name}: {rule}");
                assert!(provider.rules().contains(*rule), "{name}: {rule} is worded, but off");
            }
        }
    }
}
