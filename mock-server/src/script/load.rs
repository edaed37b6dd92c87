//! Reads a script from its YAML form.

use std::sync::Arc;

use super::model::Script;
use crate::document::{Diagnostic, Source};

/// Reads a script.
///
/// # Errors
/// All that is wrong with the document.
pub fn load(_source: &Arc<Source>) -> Result<Script, Vec<Diagnostic>> {
    Err(Vec::new())
}
