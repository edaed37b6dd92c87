//! A matrix file as data.

use std::sync::Arc;

use conform_mock_server::document::{Source, Span};
use indexmap::IndexMap;

use crate::clause::ClauseRef;
use crate::scenario::{Capability, ControlSpec, ExpectSpec, Fragment, When};

/// One matrix file.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// The file.
    pub source: Arc<Source>,
    /// Id, by which scenarios name it.
    pub id: String,
    /// Where the id stands.
    pub id_span: Span,
    /// One line for people.
    pub title: String,
    /// The axes, in the order in which they make up case ids.
    pub axes: Vec<AxisSpec>,
    /// Combinations that are left out, each with its reason.
    pub exclusions: Vec<Exclusion>,
    /// Which disposition each cell has; the first rule that matches wins, and every cell has one.
    pub cells: Vec<CellRule>,
    /// What each disposition means.
    pub dispositions: IndexMap<String, Disposition>,
}

/// One axis.
#[derive(Debug, Clone)]
pub struct AxisSpec {
    /// Its name, such as `channel`.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its values in order.
    pub values: Vec<AxisValue>,
}

/// One value of an axis and what it brings.
#[derive(Debug, Clone)]
pub struct AxisValue {
    /// Its name, such as `file-read`.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// One line for people.
    pub title: String,
    /// What an agent must be able to do for it.
    pub requires: Vec<Capability>,
    /// Programs it needs on the machine.
    pub needs: Vec<String>,
    /// What it adds to the scenario.
    pub body: Fragment,
    /// What it changes in the control twin: expectations added there.
    pub control_expect: Vec<ExpectSpec>,
}

/// A combination that is left out.
#[derive(Debug, Clone)]
pub struct Exclusion {
    /// Which.
    pub when: When,
    /// Why, in a sentence.
    pub reason: String,
    /// Where it stands.
    pub span: Span,
}

/// Which disposition cells have.
#[derive(Debug, Clone)]
pub struct CellRule {
    /// Which cells.
    pub when: When,
    /// The disposition's name.
    pub disposition: String,
    /// Where the name stands.
    pub disposition_span: Span,
    /// The clause these cells serve, if not the scenario's.
    pub clause: Option<ClauseRef>,
    /// Where it stands.
    pub span: Span,
}

/// What a disposition means: the expectations it brings, and its control.
#[derive(Debug, Clone)]
pub struct Disposition {
    /// One line for people.
    pub title: String,
    /// Expectations.
    pub expect: Vec<ExpectSpec>,
    /// The permissive twin, where the disposition denies something.
    pub control: Option<ControlSpec>,
    /// Capabilities an agent needs for it.
    pub requires: Vec<Capability>,
    /// Where it stands.
    pub span: Span,
}
