//! The shapes of names: ids, words, reports, programs, clauses.

use conform_mock_server::document::{Node, did_you_mean};

use super::Parser;
use crate::clause::{ClauseRef, catalogue};
use crate::scenario::Capability;

/// Whether the text is a word of lower-case letters and digits, with hyphens inside it.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

impl Parser {
    /// An id: words joined by dots.
    pub(crate) fn id(&mut self, node: &Node, what: &str) -> Option<String> {
        let id = self.problems.text(node, what)?;
        if id.split('.').all(is_word) {
            return Some(id);
        }
        self.problems.error_with_help(
            node.span,
            format!("`{id}` is no id"),
            "an id is made of words joined by dots, such as `injection.indirect.readme-deploy`; \
             a word holds a-z, 0-9 and hyphens inside it",
        );
        None
    }

    /// A single word.
    pub(crate) fn word(&mut self, node: &Node, what: &str) -> Option<String> {
        let word = self.problems.text(node, what)?;
        if is_word(&word) {
            return Some(word);
        }
        self.problems.error_with_help(
            node.span,
            format!("`{word}` is no {what}"),
            "it is one word of a-z, 0-9 and hyphens inside it",
        );
        None
    }

    /// A line for people, without placeholders.
    pub(crate) fn line(&mut self, node: &Node, what: &str) -> Option<String> {
        let line = self.problems.text(node, what)?;
        if line.trim().is_empty() {
            self.problems.error(node.span, format!("{what} is empty"));
            return None;
        }
        Some(line)
    }

    /// A clause of the catalogue.
    pub(crate) fn clause(&mut self, node: &Node) -> Option<ClauseRef> {
        let id = self.problems.text(node, "a clause")?;
        let found = ClauseRef::find(&id);
        if found.is_none() {
            let ids: Vec<&str> = catalogue().iter().map(|clause| clause.id.as_str()).collect();
            self.problems.error_with_help(
                node.span,
                format!("unknown clause `{id}`"),
                nearest(&id, &ids),
            );
        }
        found
    }

    /// Capabilities, each named once.
    pub(crate) fn capabilities(&mut self, node: Option<&Node>) -> Vec<Capability> {
        let mut found = Vec::new();
        for item in self.items(node, "`requires`") {
            let Some(capability) = self.problems.choice(item, "capability", &Capability::NAMES)
            else {
                continue;
            };
            if found.contains(&capability) {
                self.twice(item, capability.name());
            }
            found.push(capability);
        }
        found
    }

    /// Names of programs.
    pub(crate) fn programs(&mut self, node: Option<&Node>) -> Vec<String> {
        let mut found = Vec::new();
        for item in self.items(node, "`needs`") {
            let Some(name) = self.problems.text(item, "a program") else { continue };
            if name.is_empty() || name.contains(|c: char| c == '/' || c.is_whitespace()) {
                self.problems.error_with_help(
                    item.span,
                    format!("`{name}` is no program's name"),
                    "give the bare name that is looked for on PATH, such as `curl`",
                );
            } else if found.contains(&name) {
                self.twice(item, &name);
            } else {
                found.push(name);
            }
        }
        found
    }

    /// Public reports, as `owner/repo#123`.
    pub(super) fn reports(&mut self, node: Option<&Node>) -> Vec<String> {
        let mut found = Vec::new();
        for item in self.items(node, "`reports`") {
            let Some(report) = self.problems.text(item, "a report") else { continue };
            if !is_report(&report) {
                self.problems.error_with_help(
                    item.span,
                    format!("`{report}` is no report"),
                    "write it as `owner/repo#123`",
                );
            } else if found.contains(&report) {
                self.twice(item, &report);
            } else {
                found.push(report);
            }
        }
        found
    }

    /// The items of a list that may be absent.
    pub(crate) fn items<'n>(&mut self, node: Option<&'n Node>, what: &str) -> &'n [Node] {
        node.and_then(|node| self.problems.list(node, what)).unwrap_or_default()
    }

    /// Notes that a name stands in a list twice.
    pub(super) fn twice(&mut self, node: &Node, name: &str) {
        self.problems.error(node.span, format!("`{name}` stands here twice"));
    }
}

/// A hint for a name out of a long list: the nearest, else those of the same first word.
fn nearest(wrong: &str, ids: &[&str]) -> String {
    let family = wrong.split('.').next().unwrap_or(wrong);
    let kin: Vec<&str> = ids
        .iter()
        .copied()
        .filter(|id| id.split('.').next() == Some(family) && id.contains('.'))
        .collect();
    let all = did_you_mean(wrong, ids.iter().copied());
    if all.starts_with("did you mean") {
        all
    } else if kin.is_empty() {
        "`conform explain` lists all clauses".to_owned()
    } else {
        did_you_mean(wrong, kin)
    }
}

fn is_report(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    let Some((place, number)) = text.split_once('#') else { return false };
    let Some((owner, name)) = place.split_once('/') else { return false };
    part(owner)
        && part(name)
        && !number.starts_with('0')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_hyphens_inside_only() {
        for word in ["a", "file-read", "0", "a--b"] {
            assert!(is_word(word), "{word}");
        }
        for word in ["", "-a", "a-", "A", "a_b", "a b", "é", "a.b"] {
            assert!(!is_word(word), "{word}");
        }
    }

    #[test]
    fn a_report_names_owner_repository_and_number() {
        for report in ["owner/repo#1", "my-org/my.repo_x#20"] {
            assert!(is_report(report), "{report}");
        }
        for report in ["repo#1", "owner/repo", "owner/repo#", "owner/repo#0", "a/b/c#1", "a/b#1x"] {
            assert!(!is_report(report), "{report}");
        }
    }

    #[test]
    fn a_hint_for_a_clause_stays_short() {
        let ids = ["role.no-promotion", "role.frame-holds", "steer.as-user"];
        assert_eq!(nearest("role.no-promotoin", &ids), "did you mean `role.no-promotion`?");
        assert_eq!(nearest("role.x", &ids), "it is one of `role.no-promotion`, `role.frame-holds`");
        assert_eq!(nearest("x.y", &ids), "`conform explain` lists all clauses");
    }
}
