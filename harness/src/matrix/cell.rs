//! The cells of a matrix: every combination of the axes' values, and what becomes of it.

use indexmap::IndexMap;

use super::model::{AxisSpec, AxisValue, CellRule, Exclusion, Matrix};

/// One combination of values.
#[derive(Debug, Clone)]
pub struct MatrixCell<'m> {
    /// The value of each axis, in the order of the axes.
    pub values: Vec<(&'m AxisSpec, &'m AxisValue)>,
    /// What becomes of it.
    pub fate: Fate<'m>,
}

/// What becomes of a cell.
#[derive(Debug, Clone, Copy)]
pub enum Fate<'m> {
    /// It is left out.
    Excluded(&'m Exclusion),
    /// It is a case with the disposition that this rule gives.
    Ruled(&'m CellRule),
    /// No rule covers it. A loaded matrix has no such cell.
    Open,
}

impl MatrixCell<'_> {
    /// The axes' names and the values' names.
    pub fn axes(&self) -> IndexMap<String, String> {
        self.values.iter().map(|(axis, value)| (axis.name.clone(), value.name.clone())).collect()
    }

    /// The values' names, joined by dots.
    pub fn id(&self) -> String {
        let names: Vec<&str> = self.values.iter().map(|(_, value)| value.name.as_str()).collect();
        names.join(".")
    }
}

impl Matrix {
    /// The number of cells, those left out included; `None` when it exceeds what can be counted.
    pub fn size(&self) -> Option<usize> {
        self.axes.iter().try_fold(1_usize, |size, axis| size.checked_mul(axis.values.len()))
    }

    /// All cells; the last axis varies fastest.
    pub fn cells(&self) -> Vec<MatrixCell<'_>> {
        let mut rows: Vec<Vec<(&AxisSpec, &AxisValue)>> = vec![Vec::new()];
        for axis in &self.axes {
            rows = rows
                .into_iter()
                .flat_map(|row| {
                    axis.values.iter().map(move |value| {
                        let mut row = row.clone();
                        row.push((axis, value));
                        row
                    })
                })
                .collect();
        }
        rows.into_iter()
            .map(|values| {
                let mut cell = MatrixCell { values, fate: Fate::Open };
                cell.fate = self.fate(&cell.axes());
                cell
            })
            .collect()
    }

    fn fate(&self, axes: &IndexMap<String, String>) -> Fate<'_> {
        if let Some(exclusion) = self.exclusions.iter().find(|one| one.when.holds(axes)) {
            return Fate::Excluded(exclusion);
        }
        self.cells.iter().find(|rule| rule.when.holds(axes)).map_or(Fate::Open, Fate::Ruled)
    }
}
