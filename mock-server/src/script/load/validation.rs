//! Validation and the provider.

use super::{each, field};
use crate::document::{Fields, Node, NodeKind, Problems, did_you_mean};
use crate::provider::Provider;
use crate::validate::{Base, Level, ModelFacts, RuleId, Service, Validation};

const BASES: [(&str, Base); 3] =
    [("none", Base::None), ("lenient", Base::Lenient), ("strict", Base::Strict)];

/// Reads `validation`: the name of a set of rules, or a map.
pub(super) fn validation(node: &Node, problems: &mut Problems) -> Option<Validation> {
    if matches!(node.kind, NodeKind::Text(_)) {
        let base = problems.choice(node, "set of rules", &BASES)?;
        return Some(Validation { base: Some(base), ..Validation::default() });
    }
    let mut fields = Fields::of(node, "`validation`", problems)?;
    let base = field(fields.optional("strict"), None, |node| {
        let strict = problems.boolean(node, "`strict`")?;
        Some(Some(if strict { Base::Strict } else { Base::Lenient }))
    });
    let on = field(fields.optional("on"), Vec::new(), |node| rules(node, "`on`", problems));
    let off_node = fields.optional("off");
    let off = field(off_node, Vec::new(), |node| rules(node, "`off`", problems));
    if let (Some(node), Some(off)) = (off_node, &off) {
        for rule in off {
            if rule.rule().level == Level::Always {
                problems.error(node.span, format!("rule {rule} cannot be turned off"));
            }
            if on.as_ref().is_some_and(|on| on.contains(rule)) {
                problems.error(node.span, format!("rule {rule} is turned on and off"));
            }
        }
    }
    let keys = field(fields.optional("keys"), Vec::new(), |node| {
        let keys = problems.list(node, "`keys`")?;
        each(keys, |_, key| problems.text(key, "an API key"))
    });
    let models = field(fields.optional("models"), indexmap::IndexMap::new(), |node| {
        let entries = problems.map(node, "`models`")?;
        let models: Vec<_> = entries
            .iter()
            .map(|(key, value)| Some((key.name.clone(), facts(value, problems)?)))
            .collect();
        models.into_iter().collect()
    });
    let model =
        field(fields.optional("model"), ModelFacts::default(), |node| facts(node, problems));
    fields.finish(problems);
    let service = Service { keys: keys?, models: models?, model: model?, tool_types: Vec::new() };
    Some(Validation { base: base?, on: on?, off: off?, service })
}

/// Reads `provider`: the name of one that is built in.
pub(super) fn provider(node: &Node, problems: &mut Problems) -> Option<Provider> {
    let name = problems.text(node, "`provider`")?;
    let found = Provider::named(&name);
    if found.is_none() {
        problems.error_with_help(
            node.span,
            format!("there is no provider `{name}`"),
            did_you_mean(&name, Provider::names()),
        );
    }
    found
}

fn rules(node: &Node, what: &str, problems: &mut Problems) -> Option<Vec<RuleId>> {
    let items = problems.list(node, what)?;
    each(items, |_, item| {
        let name = problems.text(item, "the id of a rule")?;
        match name.parse::<RuleId>() {
            Ok(rule) => Some(rule),
            Err(unknown) => {
                let message = format!("there is no rule `{}`", unknown.name);
                problems.error_with_help(item.span, message, unknown.help);
                None
            }
        }
    })
}

fn facts(node: &Node, problems: &mut Problems) -> Option<ModelFacts> {
    let mut fields = Fields::of(node, "a model", problems)?;
    let mut truth = |name: &'static str, problems: &mut Problems| {
        field(fields.optional(name), None, |node| {
            problems.boolean(node, &format!("`{name}`")).map(Some)
        })
    };
    let reasoning = truth("reasoning", problems);
    let images = truth("images", problems);
    let prefill = truth("prefill", problems);
    let system_messages = truth("system_messages", problems);
    let mut figure = |name: &'static str, problems: &mut Problems| {
        field(fields.optional(name), None, |node| {
            problems.count(node, &format!("`{name}`")).map(Some)
        })
    };
    let window = figure("window", problems);
    let max_output = figure("max_output", problems);
    let mut names = |name: &'static str, problems: &mut Problems| {
        field(fields.optional(name), None, |node| {
            let items = problems.list(node, &format!("`{name}`"))?;
            each(items, |_, item| problems.text(item, "a value")).map(Some)
        })
    };
    let efforts = names("efforts", problems);
    let thinking = names("thinking", problems);
    fields.finish(problems);
    Some(ModelFacts {
        window: window?,
        max_output: max_output?,
        reasoning: reasoning?,
        efforts: efforts?,
        images: images?,
        thinking: thinking?,
        prefill: prefill?,
        system_messages: system_messages?,
    })
}
