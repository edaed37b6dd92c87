//! The catalogue of clauses: what an agent must honour, each with its severity and layer.

use std::sync::OnceLock;

use conform_reports::record::{Layer, Severity};
use serde::Deserialize;

/// One clause.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// Stable id, such as `role.no-promotion`.
    pub id: String,
    /// How grave it is when it is broken.
    pub severity: Severity,
    /// The layer that guards it.
    pub layer: Layer,
    /// The clause in a sentence.
    pub text: String,
    /// Where the duty comes from: a specification, documentation page or public report.
    pub source: String,
}

/// A reference to a clause that exists.
#[derive(Clone, Copy)]
pub struct ClauseRef(&'static Clause);

impl ClauseRef {
    /// The clause of this id, if the catalogue has it.
    pub fn find(id: &str) -> Option<Self> {
        catalogue().iter().find(|clause| clause.id == id).map(Self)
    }

    /// The clause.
    pub fn get(self) -> &'static Clause {
        self.0
    }

    /// Its id.
    pub fn id(self) -> &'static str {
        &self.0.id
    }
}

impl PartialEq for ClauseRef {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for ClauseRef {}

impl std::fmt::Debug for ClauseRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClauseRef({})", self.id())
    }
}

impl std::fmt::Display for ClauseRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

/// All clauses, in the order of the catalogue.
pub fn catalogue() -> &'static [Clause] {
    static CATALOGUE: OnceLock<Vec<Clause>> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            clause: Vec<Clause>,
        }
        // The file is compiled in, and a unit test parses it: a fault in it never ships.
        toml::from_str::<File>(include_str!("../data/clauses.toml"))
            .map(|file| file.clause)
            .unwrap_or_default()
    })
}
