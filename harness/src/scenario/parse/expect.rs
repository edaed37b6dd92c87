//! What a scenario expects.

use conform_mock_server::capture::Authority;
use conform_mock_server::document::{Fields, Node, NodeKind, Span};

use super::Parser;
use crate::scenario::{
    ExitExpectation, ExpectKind, ExpectSpec, FilesExpectation, ResultClass, Text,
};

/// What can be expected.
const KINDS: [&str; 14] = [
    "request",
    "no-request",
    "last-request",
    "sub-agent",
    "paired",
    "compaction",
    "compacted",
    "contained",
    "approvals",
    "files",
    "sink",
    "final",
    "result",
    "exit",
];
/// What can stand beside that.
const MODIFIERS: [&str; 2] = ["when", "clause"];

const AUTHORITIES: [(&str, Authority); 7] = [
    ("tool", Authority::Tool),
    ("assistant", Authority::Assistant),
    ("user", Authority::User),
    ("tool-definition", Authority::ToolDefinition),
    ("developer", Authority::Developer),
    ("system", Authority::System),
    ("instructions", Authority::Instructions),
];

impl Parser {
    /// A list of expectations that may be absent.
    pub(crate) fn expectations(&mut self, node: Option<&Node>, what: &str) -> Vec<ExpectSpec> {
        self.items(node, what).iter().filter_map(|item| self.expectation(item)).collect()
    }

    fn expectation(&mut self, node: &Node) -> Option<ExpectSpec> {
        let mut fields = Fields::of(node, "expectation", &mut self.problems)?;
        let when = self.when(fields.optional("when"));
        let clause = fields.optional("clause").map(|node| self.clause(node));
        let found = self.exactly_one(node, &mut fields, "expectation", (&KINDS, &MODIFIERS));
        let kind = found.and_then(|(kind, value)| self.expect_kind(kind, value));
        let span = found.and_then(|(kind, _)| fields.key_span(kind)).unwrap_or(node.span);
        fields.finish(&mut self.problems);
        let clause = match clause {
            None => None,
            Some(clause) => Some(clause?),
        };
        Some(ExpectSpec { when, clause, span, kind: kind? })
    }

    fn expect_kind(&mut self, kind: &str, node: &Node) -> Option<ExpectKind<Text>> {
        match kind {
            "request" => self.request(node),
            "no-request" => {
                let origin = self.line(node, "an origin")?;
                Some(ExpectKind::NoRequest { origin, span: node.span })
            }
            "last-request" => self.last_request(node),
            "sub-agent" => self.sub_agent(node),
            "paired" => self.flag(node, kind).then_some(ExpectKind::Paired),
            "compacted" => self.flag(node, kind).then_some(ExpectKind::Compacted),
            "contained" => {
                if self.problems.boolean(node, "`contained`")? {
                    return Some(ExpectKind::Contained);
                }
                self.problems.error_with_help(
                    node.span,
                    "`contained: false` expects nothing",
                    "leave it out, or expect the effect with `files` or `sink`",
                );
                None
            }
            "approvals" => self.approvals(node),
            "files" => self.files_expectation(node),
            "sink" => self.sink(node),
            "final" => self.final_text(node),
            "result" => self.result(node),
            "compaction" => self.ending(node, kind).map(ExpectKind::Compaction),
            _ => self.ending(node, kind).map(ExpectKind::Exit),
        }
    }

    fn ending(&mut self, node: &Node, what: &str) -> Option<ExitExpectation> {
        let choices =
            [("success", ExitExpectation::Success), ("failure", ExitExpectation::Failure)];
        self.problems.choice(node, what, &choices)
    }

    fn last_request(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        let mut fields = Fields::of(node, "last-request", &mut self.problems)?;
        let [holds, lacks, order] =
            ["holds", "lacks", "order"].map(|name| self.origins(fields.optional(name)));
        fields.finish(&mut self.problems);
        if order.len() == 1 {
            let message = "one origin alone has no order";
            self.problems.error_with_help(node.span, message, "name at least two");
            return None;
        }
        if holds.is_empty() && lacks.is_empty() && order.is_empty() {
            return self.asks_nothing(node, "name origins with `holds`, `lacks` or `order`");
        }
        Some(ExpectKind::LastRequest { holds, lacks, order })
    }

    fn sub_agent(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        let mut fields = Fields::of(node, "sub-agent", &mut self.problems)?;
        let [holds, lacks] = ["holds", "lacks"].map(|name| self.origins(fields.optional(name)));
        fields.finish(&mut self.problems);
        if holds.is_empty() && lacks.is_empty() {
            return self.asks_nothing(node, "name origins with `holds` or `lacks`");
        }
        Some(ExpectKind::SubAgent { holds, lacks })
    }

    fn asks_nothing(&mut self, node: &Node, help: &str) -> Option<ExpectKind<Text>> {
        self.problems.error_with_help(node.span, "this asks for nothing", help);
        None
    }

    /// One origin or several.
    fn origins(&mut self, node: Option<&Node>) -> Vec<(String, Span)> {
        let Some(node) = node else { return Vec::new() };
        let items = match &node.kind {
            NodeKind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        items.iter().filter_map(|item| Some((self.line(item, "an origin")?, item.span))).collect()
    }

    fn request(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        let mut fields = Fields::of(node, "request", &mut self.problems)?;
        let origin = fields
            .required("origin", &mut self.problems)
            .and_then(|node| Some((self.line(node, "an origin")?, node.span)));
        let authority = fields
            .required("authority", &mut self.problems)
            .and_then(|node| self.authorities(node));
        let frame = fields.optional("frame").map(|node| self.frame(node));
        let verbatim = match fields.optional("verbatim") {
            None => Some(false),
            Some(node) => self.problems.boolean(node, "`verbatim`"),
        };
        let count = match fields.optional("count") {
            None => Some(None),
            Some(node) => self.positive(node, "`count`").map(Some),
        };
        fields.finish(&mut self.problems);
        let (origin, span) = origin?;
        let frame = match frame {
            None => None,
            Some(frame) => Some(frame?),
        };
        Some(ExpectKind::Request {
            origin,
            span,
            authority: authority?,
            frame,
            verbatim: verbatim?,
            count: count?,
        })
    }

    fn authorities(&mut self, node: &Node) -> Option<Vec<Authority>> {
        let items = match &node.kind {
            NodeKind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        if items.is_empty() {
            self.problems.error(node.span, "`authority` names no authority");
            return None;
        }
        let mut found = Vec::new();
        for item in items {
            let authority = self.problems.choice(item, "authority", &AUTHORITIES)?;
            if found.contains(&authority) {
                self.twice(item, authority.name());
            }
            found.push(authority);
        }
        Some(found)
    }

    fn frame(&mut self, node: &Node) -> Option<String> {
        let tag = self.problems.text(node, "a frame")?;
        let fits = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
        if !tag.is_empty() && tag.chars().all(fits) {
            return Some(tag);
        }
        self.problems.error_with_help(
            node.span,
            format!("`{tag}` is no frame"),
            "give the tag's name alone, such as `tool_output`",
        );
        None
    }

    fn positive(&mut self, node: &Node, what: &str) -> Option<u64> {
        let count = self.problems.count(node, what)?;
        if count == 0 {
            self.problems.error_with_help(
                node.span,
                format!("{what} is at least 1"),
                "a text that must stand nowhere is expected with `no-request`",
            );
            return None;
        }
        Some(count)
    }

    fn approvals(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        let mut fields = Fields::of(node, "approvals", &mut self.problems)?;
        let raised = fields
            .required("raised", &mut self.problems)
            .and_then(|node| self.problems.count(node, "`raised`"));
        fields.finish(&mut self.problems);
        Some(ExpectKind::Approvals { raised: raised? })
    }

    fn files_expectation(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        if let NodeKind::Text(_) = node.kind {
            let choices = [("unchanged", ())];
            self.problems.choice(node, "state of the files", &choices)?;
            return Some(ExpectKind::Files(FilesExpectation::unchanged()));
        }
        let mut fields = Fields::of(node, "files", &mut self.problems)?;
        let mut paths = |name| self.templates(fields.optional(name), "a path");
        let files = FilesExpectation {
            created: paths("created"),
            changed: paths("changed"),
            deleted: paths("deleted"),
        };
        let named = ["created", "changed", "deleted"].map(|name| fields.key_span(name).is_some());
        fields.finish(&mut self.problems);
        if files == FilesExpectation::unchanged() {
            if matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty())
                || named.contains(&true)
            {
                self.problems.error_with_help(
                    node.span,
                    "`files` names no path",
                    "that nothing changed is expected with `files: unchanged`",
                );
            }
            return None;
        }
        Some(ExpectKind::Files(files))
    }

    fn sink(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        let mut fields = Fields::of(node, "sink", &mut self.problems)?;
        let sink =
            fields.required("name", &mut self.problems).and_then(|node| self.word(node, "sink"));
        let receives =
            fields.required("receives", &mut self.problems).and_then(|node| match &node.kind {
                NodeKind::Text(text) if text == "nothing" => Some(None),
                _ => self.template(node, "what a sink receives").map(Some),
            });
        fields.finish(&mut self.problems);
        Some(ExpectKind::Sink { sink: sink?, receives: receives? })
    }

    fn final_text(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        let mut fields = Fields::of(node, "final", &mut self.problems)?;
        let (contains, excludes) = self.contents(node, &mut fields);
        fields.finish(&mut self.problems);
        Some(ExpectKind::Final { contains, excludes })
    }

    fn result(&mut self, node: &Node) -> Option<ExpectKind<Text>> {
        let mut fields = Fields::of(node, "result", &mut self.problems)?;
        let turn = fields
            .required("turn", &mut self.problems)
            .and_then(|node| Some((self.line(node, "a turn's name")?, node.span)));
        let class = fields
            .optional("class")
            .map(|node| self.problems.choice(node, "class", &ResultClass::NAMES));
        let (contains, excludes) = match class {
            // A class is enough to ask for.
            Some(_) => (
                self.templates(fields.optional("contains"), "`contains`"),
                self.templates(fields.optional("excludes"), "`excludes`"),
            ),
            None => self.contents(node, &mut fields),
        };
        fields.finish(&mut self.problems);
        let ((turn, span), class) = (turn?, class.map_or(Some(None), |class| class.map(Some))?);
        Some(ExpectKind::Result { turn, span, class, contains, excludes })
    }

    fn contents(&mut self, node: &Node, fields: &mut Fields<'_>) -> (Vec<Text>, Vec<Text>) {
        let contains = self.templates(fields.optional("contains"), "`contains`");
        let excludes = self.templates(fields.optional("excludes"), "`excludes`");
        let asked = |name| {
            matches!(&node.kind, NodeKind::Map(entries) if entries.iter().any(|(key, value)| {
                key.name == name
                    && value.kind != NodeKind::Null
                    && value.kind != NodeKind::List(Vec::new())
            }))
        };
        if !asked("contains") && !asked("excludes") {
            self.problems.error_with_help(
                node.span,
                "this asks for no text",
                "give texts with `contains` or `excludes`",
            );
        }
        (contains, excludes)
    }
}
