//! Names of tools.

/// What is wrong with the name of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameProblem {
    /// It is empty, or has a character that is none of `a-z A-Z 0-9 _ -`.
    Pattern,
    /// It is longer than allowed.
    Length,
}

/// What is wrong with a name that may have `limit` characters.
pub(super) fn problem(name: &str, limit: usize) -> Option<NameProblem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(plain) {
        return Some(NameProblem::Pattern);
    }
    (name.len() > limit).then_some(NameProblem::Length)
}

impl NameProblem {
    /// The problem in words.
    pub(super) fn in_words(self, name: &str, limit: usize) -> String {
        match self {
            Self::Pattern => {
                format!(
                    "the tool name '{name}' must be letters, digits, '_' and '-' (at least one)"
                )
            }
            Self::Length => {
                format!("the tool name '{name}' is too long: it may have {limit} characters")
            }
        }
    }
}
