//! Fetching a package with npm, and listing its versions.

use std::fs::{File, Permissions};
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde::Deserialize;

use super::error::{InstallError, io};
use super::manifest::{Origin, hash};
use super::pattern;
use super::store::Progress;

/// npm's lock file.
const LOCK: &str = "package-lock.json";

/// One version of a package, and its program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Package<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    /// The program in it that is compressed.
    pub(super) unpack: Option<&'a str>,
    /// The program, a pattern.
    pub(super) executable: &'a str,
}

/// Fills an empty folder with a package, and says what is in it.
pub(super) fn fetch(
    npm: &Path,
    folder: &Path,
    package: Package<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Origin, InstallError> {
    progress(Progress::Fetching);
    let integrity = install(npm, folder, package)?;
    progress(Progress::Checking);
    if let Some(compressed) = package.unpack {
        unpack(folder, compressed)?;
    }
    let executable = pattern::resolve(folder, package.executable)?;
    Ok(Origin {
        package: package.name.to_owned(),
        version: package.version.to_owned(),
        integrity,
        blake3: hash(&folder.join(&executable))?,
        executable,
        interpreter: None,
        node: None,
        lock: Some(LOCK.to_owned()),
    })
}

/// Unpacks a program beside itself.
fn unpack(folder: &Path, compressed: &str) -> Result<(), InstallError> {
    let Some(name) = compressed.strip_suffix(".br") else {
        return Err(InstallError::Compression { name: compressed.to_owned() });
    };
    let (source, target) = (folder.join(compressed), folder.join(name));
    let input = File::open(&source).map_err(io("read", &source))?;
    let mut output = File::create(&target).map_err(io("write", &target))?;
    let mut input = brotli_decompressor::Decompressor::new(BufReader::new(input), 1 << 16);
    std::io::copy(&mut input, &mut output).map_err(io("unpack", &source))?;
    let mode = Permissions::from_mode(0o755);
    std::fs::set_permissions(&target, mode).map_err(io("make executable", &target))
}

/// Installs a package into an empty folder. Its integrity, as npm's lock file has it.
///
/// The package's install scripts do not run: they would get the caller's environment, and a
/// profile names the real executable. npm itself keeps the caller's environment, which holds its
/// proxy and registry.
fn install(
    npm: &Path,
    folder: &Path,
    package: Package<'_>,
) -> Result<Option<String>, InstallError> {
    // A package file of its own: else npm may choose a folder further up.
    let manifest = folder.join("package.json");
    std::fs::write(&manifest, "{\"private\": true}\n").map_err(io("write", manifest))?;
    let output = Command::new(npm)
        .arg("install")
        .arg("--prefix")
        .arg(folder)
        .args(["--location=project", "--package-lock=true", "--omit=dev", "--save-exact"])
        .args(["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .arg(format!("{}@{}", package.name, package.version))
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(io("run", npm))?;
    if output.status.success() {
        read_lock(folder, package)
    } else {
        Err(failure(package, &output))
    }
}

/// `package-lock.json`, version 3.
#[derive(Debug, Deserialize)]
struct Lock {
    packages: std::collections::BTreeMap<String, Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    version: Option<String>,
    integrity: Option<String>,
}

fn read_lock(folder: &Path, package: Package<'_>) -> Result<Option<String>, InstallError> {
    let path = folder.join(LOCK);
    let text = std::fs::read(&path).map_err(io("read", &path))?;
    let lock: Lock =
        serde_json::from_slice(&text).map_err(|error| io("read", &path)(error.into()))?;
    let locked = lock.packages.get(&format!("node_modules/{}", package.name));
    match locked {
        Some(Locked { version: Some(version), integrity }) if version == package.version => {
            Ok(integrity.clone())
        }
        other => Err(InstallError::WrongVersion {
            package: package.name.to_owned(),
            version: package.version.to_owned(),
            found: other
                .and_then(|locked| locked.version.clone())
                .unwrap_or_else(|| "in no version".to_owned()),
        }),
    }
}

/// What `npm view NAME versions --json` prints: a list, or the version where there is but one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Versions {
    One(String),
    Several(Vec<String>),
}

/// Every published version of a package, in npm's words and order. npm is run in `folder`, so that
/// it finds no project's configuration.
pub(super) fn versions(
    npm: &Path,
    folder: &Path,
    package: &str,
) -> Result<Vec<String>, InstallError> {
    let output = Command::new(npm)
        .args(["view", package, "versions", "--json", "--loglevel=error"])
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(io("run", npm))?;
    let unlisted = |said: String| InstallError::Unlisted { package: package.to_owned(), said };
    if !output.status.success() {
        let said = read_errors(&String::from_utf8_lossy(&output.stderr));
        return Err(said.trouble(package).unwrap_or_else(|said| unlisted(said.summary)));
    }
    match serde_json::from_slice(&output.stdout) {
        Ok(Versions::One(version)) => Ok(vec![version]),
        Ok(Versions::Several(versions)) => Ok(versions),
        Err(error) => Err(unlisted(format!("no list of versions in JSON ({error})"))),
    }
}

fn failure(package: Package<'_>, output: &Output) -> InstallError {
    let said = read_errors(&String::from_utf8_lossy(&output.stderr));
    let said = match said.trouble(package.name) {
        Ok(trouble) => return trouble,
        Err(said) => said,
    };
    let (name, version) = (package.name.to_owned(), package.version.to_owned());
    match said.code.as_deref() {
        Some("ETARGET") => {
            InstallError::NoSuchVersion { package: name, version, said: said.summary }
        }
        _ => InstallError::Npm {
            package: name,
            version,
            ended: output.status.to_string(),
            said: said.summary,
        },
    }
}

/// What npm says of its failure: a code, and its first line for people.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    code: Option<String>,
    summary: String,
}

impl Said {
    /// The trouble that every use of the registry can meet; `Err`: it is another.
    fn trouble(self, package: &str) -> Result<InstallError, Self> {
        let package = package.to_owned();
        match self.code.as_deref() {
            Some("E404") => Ok(InstallError::NoSuchPackage { package, said: self.summary }),
            Some(
                "ENOTFOUND" | "EAI_AGAIN" | "ECONNREFUSED" | "ECONNRESET" | "ETIMEDOUT"
                | "ENETUNREACH" | "EHOSTUNREACH" | "ERR_SOCKET_TIMEOUT" | "ENOTCACHED",
            ) => Ok(InstallError::Network { package, said: self.summary }),
            _ => Err(self),
        }
    }
}

/// Reads lines such as `npm error code ETARGET` and `npm error notarget No matching version …`
/// (older: `npm ERR! …`). Without any, the last line counts.
fn read_errors(stderr: &str) -> Said {
    let mut code = None;
    let mut summary = None;
    for line in stderr.lines() {
        let Some(text) = ["npm error", "npm ERR!"].iter().find_map(|lead| line.strip_prefix(lead))
        else {
            continue;
        };
        let text = text.trim();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "code" => code = Some(rest.trim().to_owned()),
            "" | "errno" | "syscall" => {}
            "404" | "notarget" if rest.is_empty() => {}
            "404" | "notarget" => {
                summary.get_or_insert_with(|| rest.trim().to_owned());
            }
            _ if text.starts_with("A complete log") => {}
            _ => {
                summary.get_or_insert_with(|| text.to_owned());
            }
        }
    }
    let last = || stderr.lines().rfind(|line| !line.trim().is_empty());
    let summary = summary.or_else(|| last().map(|line| line.trim().to_owned()));
    Said { code, summary: summary.unwrap_or_else(|| "nothing".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stderr: &str) -> (Option<String>, String) {
        let Said { code, summary } = read_errors(stderr);
        (code, summary)
    }

    #[test]
    fn the_code_and_the_first_line_for_people_are_found() {
        let stderr = "npm error code ETARGET\n\
            npm error notarget No version matches a@9.9.9.\n\
            npm error notarget More advice.\n\
            npm error A complete log of this run can be found in: x.log\n";
        let expected = (Some("ETARGET".to_owned()), "No version matches a@9.9.9.".to_owned());
        assert_eq!(said(stderr), expected);
        let stderr = "npm warn old\nnpm ERR! code ECONNREFUSED\nnpm ERR! syscall connect\n\
            npm ERR! errno ECONNREFUSED\nnpm ERR! FetchError: request failed\nnpm ERR!  at x\n";
        let expected = (Some("ECONNREFUSED".to_owned()), "FetchError: request failed".to_owned());
        assert_eq!(said(stderr), expected);
    }

    #[test]
    fn without_error_lines_the_last_line_counts() {
        assert_eq!(said("one\ntwo\n\n"), (None, "two".to_owned()));
        assert_eq!(said(""), (None, "nothing".to_owned()));
    }
}
