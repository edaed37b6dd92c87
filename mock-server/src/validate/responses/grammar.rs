//! Grammars of free-form tools, as far as they can be told to be wrong without a parser for them.

use serde_json::Value;

use crate::validate::subject::text;

/// What is wrong with the format of a free-form tool.
///
/// A regex is compiled. Of a Lark grammar only the rule `start` is looked for, which every one
/// must have.
pub(super) fn problem(format: &Value) -> Option<String> {
    if text(format, "type") != Some("grammar") {
        return None;
    }
    let definition = text(format, "definition").unwrap_or_default();
    if definition.trim().is_empty() {
        return Some("a grammar needs a 'definition'".to_owned());
    }
    match text(format, "syntax") {
        Some("lark") => (!definition.lines().any(is_start))
            .then(|| "the Lark grammar has no rule 'start'".to_owned()),
        Some("regex") => regex::Regex::new(definition)
            .err()
            .map(|error| format!("the regex cannot be compiled: {error}")),
        _ => Some("the syntax of a grammar is 'lark' or 'regex'".to_owned()),
    }
}

fn is_start(line: &str) -> bool {
    let rule = line.trim_start().trim_start_matches(['?', '!']);
    rule.strip_prefix("start").is_some_and(|rest| {
        let rest = rest.trim_start();
        rest.starts_with(':') || rest.starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn grammar(syntax: &str, definition: &str) -> Option<String> {
        problem(&json!({"type": "grammar", "syntax": syntax, "definition": definition}))
    }

    #[test]
    fn grammars_that_can_be_read_pass() {
        assert_eq!(problem(&json!({"type": "text"})), None);
        for lark in ["start: WORD\nWORD: /a/", "WORD: /a/\n?start.2: WORD"] {
            assert_eq!(grammar("lark", lark), None, "{lark}");
        }
        assert_eq!(grammar("regex", "^a+$"), None);
    }

    #[test]
    fn grammars_that_cannot_be_read_are_named() {
        for (syntax, definition) in
            [("lark", "started: WORD"), ("lark", " "), ("regex", "(a"), ("abnf", "a = b")]
        {
            assert!(grammar(syntax, definition).is_some(), "{syntax} {definition}");
        }
    }
}
