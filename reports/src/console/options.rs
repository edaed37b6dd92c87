//! How the console report looks.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use crate::gate::Gate;
use crate::tally::Mark;

/// A wish that the surroundings may decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// As it fits where the output goes.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// As a bar on standard error, while that is a terminal.
    Bar,
    /// As a running count in front of each line.
    Count,
    /// Not at all.
    Hidden,
}

/// Which cases get a line as they finish. Each level shows all that the one before it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatusLevel {
    /// None; only the end of the report is left.
    None,
    /// Those that can close the gate: fail, error, flaky.
    Fail,
    /// All but pass and skip.
    Notable,
    /// All.
    All,
}

impl StatusLevel {
    /// Whether a case with this mark gets a line.
    pub fn shows(self, mark: Mark) -> bool {
        let least = match mark {
            Mark::Fail | Mark::Error | Mark::Flaky => Self::Fail,
            Mark::Warn | Mark::Known => Self::Notable,
            Mark::Pass | Mark::Skip => Self::All,
        };
        self >= least
    }
}

/// The look of a console report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleOptions {
    /// Whether the output bears colours.
    pub colour: bool,
    /// How progress is shown.
    pub progress: Progress,
    /// Which cases get a line.
    pub status: StatusLevel,
    /// The gate that judges the run.
    pub gate: Gate,
    /// Where the record is, to be named at the end.
    pub record: Option<PathBuf>,
}

impl ConsoleOptions {
    /// Options for a report to standard output. What is left open depends on where it goes: on a
    /// terminal, colours (unless `NO_COLOR` and its like forbid them), a bar, and lines only for
    /// what is notable; elsewhere, as in CI, plain text and a line for every case.
    pub fn for_stdout(
        colour: When,
        progress: When,
        status: Option<StatusLevel>,
        gate: Gate,
        record: Option<PathBuf>,
    ) -> Self {
        let choice = anstream::AutoStream::choice(&io::stdout());
        let automatic_status = if io::stdout().is_terminal() && io::stderr().is_terminal() {
            StatusLevel::Notable
        } else {
            StatusLevel::All
        };
        Self {
            colour: match colour {
                When::Auto => choice != anstream::ColorChoice::Never,
                When::Always => true,
                When::Never => false,
            },
            progress: match (progress, io::stderr().is_terminal()) {
                (When::Auto | When::Always, true) => Progress::Bar,
                (When::Always, false) => Progress::Count,
                (When::Auto, false) | (When::Never, _) => Progress::Hidden,
            },
            status: status.unwrap_or(automatic_status),
            gate,
            record,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_shows_what_the_one_before_it_shows() {
        use StatusLevel::{All, Fail, None, Notable};
        let shown = [None, Fail, Notable, All].map(|level| {
            let marks = Mark::ALL.into_iter().filter(|&mark| level.shows(mark));
            marks.map(Mark::word).collect::<Vec<_>>()
        });
        let expected = [
            vec![],
            vec!["fail", "error", "flaky"],
            vec!["fail", "warn", "known", "error", "flaky"],
            vec!["pass", "fail", "warn", "known", "error", "skip", "flaky"],
        ];
        assert_eq!(shown, expected);
    }
}
