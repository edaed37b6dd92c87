//! Bisection: which published version of an agent changed the verdict of a case.
//!
//! Everything here is pure. The versions come from the agent's package, the verdicts from running
//! the case; whoever drives a [`Search`] does both.

mod judgement;
mod search;
mod span;

pub use judgement::{Judgement, Unjudged};
pub use search::{Answer, Change, Question, Search, Step};
pub use span::{Span, SpanError};
