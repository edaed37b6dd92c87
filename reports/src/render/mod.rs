//! Cases and findings as text, in one way for every report that shows text.
//!
//! Everything that an agent or a scenario had a hand in goes through [`visible`] first: evidence
//! may hold escape sequences and invisible characters, planted or not, and a report must neither
//! obey nor hide them.

mod agent;
mod case;
mod diff;
mod style;
mod text;

pub use agent::AgentNames;
pub use case::{case_block, headline};
pub use diff::diff;
pub use style::Styles;
pub use text::{excerpt, name, one_line, visible};
