//! Reading maps beyond what [`Fields`] offers.

use conform_mock_server::document::{Fields, Node, NodeKind};

use super::Parser;

impl Parser {
    /// Exactly one of several fields: which, and its value. `others` are the fields that may stand
    /// beside it. A map without any of them but with a key that nobody knows is left to
    /// [`Fields::finish`], which names that key.
    pub(super) fn exactly_one<'n>(
        &mut self,
        node: &'n Node,
        fields: &mut Fields<'n>,
        what: &str,
        (names, others): (&[&'static str], &[&'static str]),
    ) -> Option<(&'static str, &'n Node)> {
        let NodeKind::Map(entries) = &node.kind else { return None };
        if entries.iter().any(|(key, _)| names.contains(&key.name.as_str())) {
            return fields.exactly_one(names, &mut self.problems);
        }
        for name in names {
            fields.optional(name);
        }
        if entries.iter().all(|(key, _)| others.contains(&key.name.as_str())) {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = match names.as_slice() {
                [only] => format!("{what} needs {only}"),
                names => format!("{what} needs one of {}", names.join(", ")),
            };
            self.problems.error(node.span, message);
        }
        None
    }
}
