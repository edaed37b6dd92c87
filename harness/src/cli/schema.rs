//! `conform schema`.

use clap::{Args, ValueEnum};
use conform::agent::profile;

use super::Status;
use super::page::print;

/// What to show the form of.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The kind of file
    what: Kind,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// A profile of an agent (`agents/NAME.toml`)
    Profile,
}

pub(crate) fn main(args: &SchemaArgs) -> anyhow::Result<Status> {
    let schema = match args.what {
        Kind::Profile => profile::schema(),
    };
    print(&format!("{}\n", serde_json::to_string_pretty(&schema)?))?;
    Ok(Status::Success)
}
