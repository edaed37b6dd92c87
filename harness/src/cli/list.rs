//! `conform list`.

use std::path::PathBuf;

use clap::Args;
use conform::suite::{Filter, Suite};

use super::{Status, say_problems};

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
    /// Scenario files or folders
    #[arg(default_value = "scenarios")]
    pub(crate) paths: Vec<PathBuf>,
    /// Keep only cases whose id holds this text or matches this glob; may repeat
    #[arg(long, short, value_name = "TEXT|GLOB")]
    pub(crate) filter: Vec<String>,
    /// Where matrices are [default: the folder `matrices` beside `scenarios`]
    #[arg(long, value_name = "PATH")]
    pub(crate) matrices: Vec<PathBuf>,
}

impl Selection {
    /// Loads the selected cases; `None` when a file is broken, which has been said then.
    pub(crate) fn load(&self) -> anyhow::Result<Option<Suite>> {
        let filter = Filter::new(&self.filter)?;
        let mut suite = Suite::load(&self.paths, &self.matrices);
        let errors = say_problems(&suite.problems);
        if !suite.is_sound() {
            let problems = if errors == 1 { "problem" } else { "problems" };
            anstream::eprintln!("{errors} {problems}; nothing was run");
            return Ok(None);
        }
        suite.retain(&filter);
        Ok(Some(suite))
    }
}

pub(crate) fn main(args: &ListArgs) -> anyhow::Result<Status> {
    let Some(suite) = args.selection.load()? else { return Ok(Status::BadInput) };
    for case in &suite.cases {
        anstream::println!("{}", case.id);
    }
    if args.excluded {
        for cell in &suite.excluded {
            anstream::println!("excluded  {}  {}", cell.id, cell.reason);
        }
    }
    anstream::eprintln!("{} cases from {} scenarios", suite.cases.len(), suite.scenarios);
    Ok(if suite.cases.is_empty() { Status::NothingSelected } else { Status::Success })
}
