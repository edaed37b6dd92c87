//! What an installation says of itself: `installed.json`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{InstallError, io};
use super::path::is_executable;

/// The file in an installation that says what it is.
const MANIFEST: &str = "installed.json";

/// An agent that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The program, or the script that the interpreter runs.
    pub executable: PathBuf,
    /// What runs the script; `None`: the program runs by itself.
    pub interpreter: Option<PathBuf>,
    /// The installation; for a program that was on the machine already, the folder it is in.
    pub folder: PathBuf,
    /// The version.
    pub version: String,
    /// Where a package came from; `None`: it was not fetched.
    pub origin: Option<Origin>,
}

/// What was fetched: the contents of `installed.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The package.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Its integrity, as the package manager recorded it.
    pub integrity: Option<String>,
    /// The program, relative to the installation.
    pub executable: String,
    /// BLAKE3 of the program, in hexadecimal.
    pub blake3: String,
    /// The interpreter, relative to the installation, where it has one of its own.
    #[serde(default)]
    pub interpreter: Option<String>,
    /// The version of the private Node.js that runs the program, where it needs one.
    #[serde(default)]
    pub node: Option<String>,
    /// The file that names every package installed with its version, relative to the installation.
    #[serde(default)]
    pub lock: Option<String>,
}

impl Installed {
    /// Compares a fetched program with what was fetched.
    ///
    /// # Errors
    /// When it is another, or cannot be read.
    pub fn verify(&self) -> Result<(), InstallError> {
        match &self.origin {
            Some(origin) if hash(&self.executable)? != origin.blake3 => {
                Err(damaged(&self.folder, "its program is not the one that was installed"))
            }
            _ => Ok(()),
        }
    }
}

/// Reads an installation; `None`: there is none.
pub(super) fn read(folder: &Path) -> Result<Option<Installed>, InstallError> {
    let path = folder.join(MANIFEST);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !folder.exists() => {
            return Ok(None);
        }
        Err(error) => return Err(damaged(folder, &format!("cannot read {MANIFEST}: {error}"))),
    };
    let origin: Origin = serde_json::from_slice(&text)
        .map_err(|error| damaged(folder, &format!("{MANIFEST} is not as written: {error}")))?;
    let executable = folder.join(&origin.executable);
    let interpreter = origin.interpreter.as_ref().map(|path| folder.join(path));
    for program in interpreter.iter().chain([&executable]) {
        if !is_executable(program) {
            let problem = format!("{} is no executable file", program.display());
            return Err(damaged(folder, &problem));
        }
    }
    Ok(Some(Installed {
        executable,
        interpreter,
        folder: folder.to_owned(),
        version: origin.version.clone(),
        origin: Some(origin),
    }))
}

/// Completes an installation: it says what it is.
pub(super) fn write(folder: &Path, origin: &Origin) -> Result<(), InstallError> {
    let path = folder.join(MANIFEST);
    let text =
        serde_json::to_vec_pretty(origin).map_err(|error| io("write", &path)(error.into()))?;
    fs::write(&path, text).map_err(io("write", &path))
}

pub(super) fn hash(path: &Path) -> Result<String, InstallError> {
    let mut hasher = blake3::Hasher::new();
    let file = File::open(path).map_err(io("read", path))?;
    hasher.update_reader(file).map_err(io("read", path))?;
    Ok(hasher.finalize().to_hex().to_string())
}

pub(super) fn damaged(folder: &Path, problem: &str) -> InstallError {
    InstallError::Damaged { folder: folder.to_owned(), problem: problem.to_owned() }
}
