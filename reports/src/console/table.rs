//! Aligned columns.

/// Blank columns between two columns of a table.
const GAP: usize = 2;

/// Lines of a table: the first `left` columns are texts, aligned left, the others figures, aligned
/// right. Columns are as wide as what they hold. The first row is the heading.
pub(super) fn table(left: usize, rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if column > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let padding = " ".repeat(width - cell.chars().count());
            if column < left {
                line.extend([cell.as_str(), &padding]);
            } else {
                line.extend([padding.as_str(), cell]);
            }
        }
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_left_and_figures_right() {
        let rows = [["agent", "pass"], ["é", "3"], ["lab@0.1.0", "10"]]
            .map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(1, &rows), ["agent      pass", "é             3", "lab@0.1.0    10"]);
    }
}
