//! `conform list`.

use std::path::PathBuf;

use clap::Args;
use conform::suite::{Filter, Suite};

use super::page::{Page, counted};
use super::{Status, say_problems};

/// Where scenarios are, when no path is named.
pub(crate) const SCENARIOS: &str = "scenarios";

/// Which cases to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    selection: Selection,
    /// Also list the cells that a matrix leaves out, with the reason
    #[arg(long)]
    excluded: bool,
}

/// A selection of cases.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Scenario files, or folders of them
    #[arg(value_name = "PATH", default_value = SCENARIOS)]
    pub(crate) paths: Vec<PathBuf>,
    /// Keep only cases whose id holds TEXT or matches GLOB, such as `*.file-read.*`; may repeat
    #[arg(long, short, value_name = "TEXT|GLOB")]
    pub(crate) filter: Vec<String>,
    /// Where matrices are [default: the folder `matrices` beside `scenarios`]
    #[arg(long, value_name = "PATH")]
    pub(crate) matrices: Vec<PathBuf>,
}

/// What to say of an empty selection.
pub(crate) const NOTHING_SELECTED: &str =
    "nothing was selected: no case id fits --filter; `conform list` without it shows the ids";

impl Selection {
    /// Whether this is the selection of someone who named no path.
    pub(crate) fn is_default(&self) -> bool {
        self.paths == [PathBuf::from(SCENARIOS)]
    }

    /// Loads the selected cases; `None` when a file is broken, which has been said then.
    pub(crate) fn load(&self) -> anyhow::Result<Option<Suite>> {
        let filter = Filter::new(&self.filter)?;
        let mut suite = Suite::load(&self.paths, &self.matrices);
        let errors = say_problems(&suite.problems);
        if !suite.is_sound() {
            anstream::eprintln!("{}; mend the files first", counted(errors, "problem"));
            return Ok(None);
        }
        suite.retain(&filter);
        Ok(Some(suite))
    }
}

pub(crate) fn main(args: &ListArgs) -> anyhow::Result<Status> {
    let Some(suite) = args.selection.load()? else { return Ok(Status::BadInput) };
    let mut page = Page::default();
    for case in &suite.cases {
        page.line(&case.id);
    }
    if args.excluded {
        for cell in &suite.excluded {
            page.line(format_args!("excluded  {}  {}", cell.id, cell.reason));
        }
    }
    page.print()?;
    if suite.cases.is_empty() {
        anstream::eprintln!("{NOTHING_SELECTED}");
        return Ok(Status::NothingSelected);
    }
    let excluded = match suite.excluded.len() {
        0 => String::new(),
        count if args.excluded => format!("; {} excluded", counted(count, "cell")),
        count => format!("; {} excluded (--excluded shows them)", counted(count, "cell")),
    };
    anstream::eprintln!("{} selected{excluded}", counted(suite.cases.len(), "case"));
    Ok(Status::Success)
}
