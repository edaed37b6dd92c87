//! Fetching a package with pip, into a virtual environment of its own, and listing its versions.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::error::{InstallError, io};
use super::manifest::{Origin, hash};
use super::path::find_all;
use super::pattern;
use super::store::Progress;

/// The virtual environment in an installation.
const VENV: &str = "venv";
/// The file that names every package installed, in pip's form of requirements.
const LOCK: &str = "requirements.lock";
/// The interpreter. By its path, Python finds the environment, wherever that is moved.
const PYTHON: &str = "venv/bin/python";

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) package: &'a str,
    pub(super) version: &'a str,
    /// Further requirements, each with its version.
    pub(super) with: &'a [String],
    /// The script, relative to the virtual environment.
    pub(super) executable: &'a str,
    /// Versions of Python that will do, such as `3.11`; the first is the best.
    pub(super) python: &'a [String],
}

/// Fills an empty folder with a virtual environment that holds the package, and says what is in it.
///
/// pip keeps the caller's environment, which holds its proxy and index.
pub(super) fn fetch(
    folder: &Path,
    request: &Request<'_>,
    search: Option<&OsStr>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Origin, InstallError> {
    progress(Progress::Fetching);
    let own = environment(folder, python(request.package, request.python, search)?)?;
    let wanted = format!("{}=={}", request.package, request.version);
    let installed = run(Command::new(&own)
        .args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"])
        .arg(&wanted)
        .args(request.with)
        .current_dir(folder))?;
    if !installed.status.success() {
        return Err(failure(request, &installed));
    }
    progress(Progress::Checking);
    let frozen = run(Command::new(&own)
        .args(["-m", "pip", "freeze", "--disable-pip-version-check"])
        .current_dir(folder))?;
    if !frozen.status.success() {
        return Err(failure(request, &frozen));
    }
    let lock = folder.join(LOCK);
    fs::write(&lock, &frozen.stdout).map_err(io("write", &lock))?;
    let executable = pattern::resolve(folder, &format!("{VENV}/{}", request.executable))?;
    Ok(Origin {
        package: request.package.to_owned(),
        version: request.version.to_owned(),
        // pip checks each archive; what it installed is named in the lock.
        integrity: None,
        blake3: hash(&folder.join(&executable))?,
        executable,
        interpreter: Some(PYTHON.to_owned()),
        node: None,
        lock: Some(LOCK.to_owned()),
    })
}

/// Every published version of a package that the Python for it can use, in pip's words and order.
/// `folder` is filled with a virtual environment, whose pip is the one that would install them.
pub(super) fn versions(
    folder: &Path,
    package: &str,
    pythons: &[String],
    search: Option<&OsStr>,
) -> Result<Vec<String>, InstallError> {
    let own = environment(folder, python(package, pythons, search)?)?;
    let output = run(Command::new(&own)
        .args(["-m", "pip", "index", "versions", "--no-input", "--disable-pip-version-check"])
        .arg(package)
        .current_dir(folder))?;
    let unlisted = |said: String| InstallError::Unlisted { package: package.to_owned(), said };
    if !output.status.success() {
        return Err(unlisted(last_line(&output)));
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    read_versions(&stdout).ok_or_else(|| unlisted("no line `Available versions: …`".to_owned()))
}

/// Reads the line `Available versions: 1.1.0, 1.0.0`.
fn read_versions(stdout: &str) -> Option<Vec<String>> {
    let line = stdout.lines().find_map(|line| line.strip_prefix("Available versions:"))?;
    Some(line.split(',').map(|version| version.trim().to_owned()).collect())
}

/// Makes the virtual environment of an installation; gives its interpreter.
fn environment(folder: &Path, python: PathBuf) -> Result<PathBuf, InstallError> {
    let made = run(Command::new(&python).args(["-m", "venv", VENV]).current_dir(folder))?;
    if !made.status.success() {
        return Err(InstallError::Venv { python, said: last_line(&made) });
    }
    Ok(folder.join(PYTHON))
}

/// The first Python on the machine that will do.
fn python(
    package: &str,
    pythons: &[String],
    search: Option<&OsStr>,
) -> Result<PathBuf, InstallError> {
    for wanted in pythons {
        let names = [format!("python{wanted}"), "python3".to_owned(), "python".to_owned()];
        for python in names.iter().flat_map(|name| find_all(name, search)) {
            // One that cannot be run, such as a wrapper without a version chosen, is none.
            let Ok(said) = run(Command::new(&python)
                .args(["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]))
            else {
                continue;
            };
            if said.status.success() && String::from_utf8_lossy(&said.stdout).trim() == wanted {
                return Ok(python);
            }
        }
    }
    Err(InstallError::PythonMissing {
        package: package.to_owned(),
        wanted: pythons.join(" or "),
        example: pythons.first().cloned().unwrap_or_else(|| "3".to_owned()),
    })
}

fn run(command: &mut Command) -> Result<Output, InstallError> {
    let program = PathBuf::from(command.get_program());
    command.stdin(Stdio::null()).output().map_err(io("run", program))
}

fn failure(request: &Request<'_>, output: &Output) -> InstallError {
    InstallError::Pip {
        package: request.package.to_owned(),
        version: request.version.to_owned(),
        said: last_line(output),
    }
}

/// pip's last error line, else the last line of all.
fn last_line(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().filter_map(|line| line.strip_prefix("ERROR: ")).next_back();
    error.or_else(|| lines().next_back()).unwrap_or("nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_their_line() {
        let stdout = "tool (1.1.0)\nAvailable versions: 1.1.0, 1.0.0\n  INSTALLED: 1.0.0\n";
        assert_eq!(read_versions(stdout).unwrap(), ["1.1.0", "1.0.0"]);
        assert_eq!(read_versions("tool (1.1.0)\n"), None);
    }
}
