//! Where a run is written to.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use conform_reports::record::{Header, Writer, now};

use super::args::RunArgs;

/// Where a run is written to. Opened before it begins, so that no run is lost to a mistyped path.
pub(super) struct Outputs {
    pub(super) folder: PathBuf,
    pub(super) writer: Writer,
    pub(super) junit: Option<BufWriter<File>>,
}

impl Outputs {
    /// Opens all of them.
    pub(super) fn open(args: &RunArgs, header: &Header) -> anyhow::Result<Self> {
        // First of all, so that no record is begun in vain. What an earlier run left in the file
        // stays until the record is there too.
        let report = match &args.junit {
            Some(path) => Some((path, open(path).with_context(|| cannot_write(path))?)),
            None => None,
        };
        let folder = record_folder(args.record.as_deref())?;
        let writer = Writer::create(&folder, header)?;
        let junit = match report {
            Some((path, file)) => {
                empty(&file).with_context(|| cannot_write(path))?;
                Some(BufWriter::new(file))
            }
            None => None,
        };
        Ok(Self { folder, writer, junit })
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(path)
}

/// Empties a regular file; anything else, such as a pipe, has no length.
fn empty(file: &File) -> std::io::Result<()> {
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

fn cannot_write(path: &Path) -> String {
    format!(
        "cannot write the JUnit report {}; name a file in a folder that is there and can be \
         written to",
        path.display()
    )
}

/// The folder asked for, or a new one with a name of its own.
pub(crate) fn record_folder(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(folder) = asked {
        return Ok(folder.to_owned());
    }
    let runs = Path::new(".conform").join("runs");
    std::fs::create_dir_all(&runs).with_context(|| {
        format!("cannot make {}; name another folder with --record", runs.display())
    })?;
    // The time makes it findable; the rest keeps two runs of one second apart.
    let prefix = format!("{}-", now().replace(':', ""));
    let folder = tempfile::Builder::new().prefix(&prefix).rand_bytes(4).tempdir_in(&runs)?;
    Ok(folder.keep())
}
