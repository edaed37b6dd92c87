//! The part of a scenario that a matrix value can bring as well.

use conform_mock_server::document::{Fields, Node, NodeKind, Span};
use indexmap::IndexMap;

use super::text::{is_reserved, is_variable_name};
use super::{Parser, is_word};
use crate::scenario::{Approver, ControlSpec, FileSpec, Fragment, Network, Policy, Text, Zone};

/// The gates that pages wait for.
type Gates = IndexMap<String, (String, Span)>;

impl Parser {
    /// Everything but the model's turns, which a scenario and a matrix value give differently.
    pub(crate) fn fragment(&mut self, fields: &mut Fields<'_>) -> Fragment {
        let mut fragment = Fragment {
            vars: self.vars(fields.optional("vars")),
            secrets: self.secrets(fields.optional("secrets")),
            ..Fragment::default()
        };
        for zone in Zone::ALL {
            if let Some(node) = fields.optional(zone.name()) {
                self.files(zone, node, &mut fragment.files);
            }
        }
        (fragment.pages, fragment.page_gates) = self.pages(fields.optional("pages"));
        fragment.policy = fields
            .optional("policy")
            .and_then(|node| self.problems.choice(node, "policy", &Policy::NAMES));
        fragment.network = fields
            .optional("network")
            .and_then(|node| self.problems.choice(node, "network", &Network::NAMES));
        fragment.approver = fields
            .optional("approver")
            .and_then(|node| self.problems.choice(node, "approver", &Approver::NAMES));
        for node in self.items(fields.optional("steps"), "`steps`") {
            fragment.steps.extend(self.step(node));
        }
        fragment.expect = self.expectations(fields.optional("expect"), "`expect`");
        fragment
    }

    /// The permissive twin, announced at `span`: everything is free in it unless it says otherwise.
    pub(crate) fn control(&mut self, node: &Node, span: Span) -> Option<ControlSpec> {
        let mut fields = Fields::of(node, "control", &mut self.problems)?;
        let policy = match fields.optional("policy") {
            None => Some(Policy::Full),
            Some(node) => self.problems.choice(node, "policy", &Policy::NAMES),
        };
        let network = match fields.optional("network") {
            None => Some(Network::Allowed),
            Some(node) => self.problems.choice(node, "network", &Network::NAMES),
        };
        let approver = match fields.optional("approver") {
            None => Some(Approver::Allow),
            Some(node) => self.problems.choice(node, "approver", &Approver::NAMES),
        };
        let expect = self.expectations(fields.optional("expect"), "`expect`");
        fields.finish(&mut self.problems);
        Some(ControlSpec { policy: policy?, network: network?, approver: approver?, expect, span })
    }

    fn vars(&mut self, node: Option<&Node>) -> IndexMap<String, Text> {
        let mut vars = IndexMap::new();
        let entries = node.and_then(|node| self.problems.map(node, "`vars`")).unwrap_or_default();
        for (key, value) in entries {
            if is_reserved(&key.name) {
                self.problems.error_with_help(
                    key.span,
                    format!(
                        "`{}` cannot be a variable: the name has a meaning of its own",
                        key.name
                    ),
                    "choose another name",
                );
            } else if !is_variable_name(&key.name) {
                self.problems.error_with_help(
                    key.span,
                    format!("`{}` cannot be a variable", key.name),
                    "a variable's name starts with a letter and holds letters, digits, `-` and `_`",
                );
            }
            if let Some(text) = self.template(value, "a variable") {
                vars.insert(key.name.clone(), text);
            }
        }
        vars
    }

    fn secrets(&mut self, node: Option<&Node>) -> Vec<(String, Span)> {
        let mut secrets: Vec<(String, _)> = Vec::new();
        for item in self.items(node, "`secrets`") {
            let Some(name) = self.word(item, "secret") else { continue };
            if secrets.iter().any(|(earlier, _)| *earlier == name) {
                self.twice(item, &name);
            }
            secrets.push((name, item.span));
        }
        secrets
    }

    fn files(&mut self, zone: Zone, node: &Node, files: &mut Vec<FileSpec>) {
        let what = format!("`{}`", zone.name());
        for (key, value) in self.problems.map(node, &what).unwrap_or_default() {
            let path = self.template_at(&key.name, key.span);
            let file = match &value.kind {
                NodeKind::Map(_) => self.file_with_mode(value),
                _ => self.template(value, "a file's contents").map(|text| (text, false)),
            };
            if let Some((text, executable)) = file {
                files.push(FileSpec { zone, path, text, executable });
            }
        }
    }

    fn file_with_mode(&mut self, node: &Node) -> Option<(Text, bool)> {
        let mut fields = Fields::of(node, "file", &mut self.problems)?;
        let text = fields
            .required("text", &mut self.problems)
            .and_then(|node| self.template(node, "a file's contents"));
        let executable = match fields.optional("executable") {
            None => Some(false),
            Some(node) => self.problems.boolean(node, "`executable`"),
        };
        fields.finish(&mut self.problems);
        Some((text?, executable?))
    }

    fn pages(&mut self, node: Option<&Node>) -> (IndexMap<String, Text>, Gates) {
        let (mut pages, mut gates) = (IndexMap::new(), Gates::new());
        let entries = node.and_then(|node| self.problems.map(node, "`pages`")).unwrap_or_default();
        for (key, value) in entries {
            if !key.name.split('.').all(is_word) {
                self.problems.error_with_help(
                    key.span,
                    format!("`{}` cannot be a page", key.name),
                    "a page is named by words of a-z, 0-9 and hyphens, joined by dots; it is \
                     served under `${mock}/page/NAME`",
                );
            }
            let page = match &value.kind {
                NodeKind::Map(_) => self.page_with_gate(value),
                _ => self.template(value, "a page").map(|text| (text, None)),
            };
            let Some((text, gate)) = page else { continue };
            pages.insert(key.name.clone(), text);
            gates.extend(gate.map(|gate| (key.name.clone(), gate)));
        }
        (pages, gates)
    }

    fn page_with_gate(&mut self, node: &Node) -> Option<(Text, Option<(String, Span)>)> {
        let mut fields = Fields::of(node, "page", &mut self.problems)?;
        let text = fields
            .required("text", &mut self.problems)
            .and_then(|node| self.template(node, "a page"));
        let gate =
            fields.optional("gate").and_then(|node| Some((self.word(node, "gate")?, node.span)));
        fields.finish(&mut self.problems);
        Some((text?, gate))
    }
}
