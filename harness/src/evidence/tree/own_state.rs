//! The agent's own state: paths in the case tree that are never judged.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The paths that a profile calls the agent's own state.
///
/// Patterns are matched against paths in the case tree, such as `home/.agent/sessions/**`; `*` and
/// `?` stay within one path part.
#[derive(Debug, Clone, Default)]
pub struct OwnState {
    patterns: GlobSet,
}

impl OwnState {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// The pattern that is not a glob, and why.
    pub fn compile(patterns: &[String]) -> Result<Self, (String, String)> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let glob = GlobBuilder::new(pattern)
                .literal_separator(true)
                .build()
                .map_err(|error| (pattern.clone(), error.kind().to_string()))?;
            set.add(glob);
        }
        let patterns = set.build().map_err(|error| (String::new(), error.to_string()))?;
        Ok(Self { patterns })
    }

    /// No own state.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether the entry is named as own state; `dir/**` names the folder `dir` as well.
    pub(super) fn holds(&self, path: &Path, folder: bool) -> bool {
        !self.patterns.is_empty()
            && (self.patterns.is_match(path) || folder && self.patterns.is_match(path.join("")))
    }
}
