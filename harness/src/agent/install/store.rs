//! The cache folder and what is installed in it.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{InstallError, io};
use super::npm::{self, Package};
use super::path::{find, is_executable};
use super::pattern;
use crate::agent::profile::{Install, Profile};

/// The file in an installation that says what it is.
const MANIFEST: &str = "installed.json";

/// The folder of all installations.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    /// `PATH` of this process.
    search: Option<OsString>,
}

/// An agent that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The program.
    pub executable: PathBuf,
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
            Install::Npm { .. } => {
                let version = exact_version(profile, version)?;
                read(&self.agent_folder(profile)?.join(version))
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
        let Install::Npm { package, executable } = &profile.install else {
            // What is not fetched was found above, or that was an error.
            return Err(InstallError::NoVersion { agent: profile.name.clone() });
        };
        let version = exact_version(profile, version)?;
        let agent = self.agent_folder(profile)?;
        fs::create_dir_all(&agent).map_err(io("make", &agent))?;
        let _lock = lock(&agent.join(format!(".{version}.lock")), progress)?;
        let folder = agent.join(&version);
        // Another installer may have been faster.
        if let Ok(Some(installed)) = read(&folder) {
            return Ok(installed);
        }
        let npm = find("npm", self.search.as_deref())
            .ok_or_else(|| InstallError::NpmMissing { package: package.clone() })?;
        let partial = agent.join(format!(".{version}.partial"));
        remove(&partial)?;
        fs::create_dir(&partial).map_err(io("make", &partial))?;
        let fetched = fetch(
            &npm,
            &partial,
            Package { name: package, version: &version },
            executable,
            progress,
        );
        if fetched.is_err() {
            remove(&partial)?;
        }
        fetched?;
        remove(&folder)?;
        fs::rename(&partial, &folder).map_err(io("rename to", &folder))?;
        read(&folder)?.ok_or_else(|| damaged(&folder, "it was removed meanwhile"))
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

/// Fills a folder with a package and the manifest.
fn fetch(
    npm: &Path,
    folder: &Path,
    package: Package<'_>,
    executable: &str,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), InstallError> {
    progress(Progress::Fetching);
    let integrity = npm::install(npm, folder, package)?;
    progress(Progress::Checking);
    let executable = pattern::resolve(folder, executable)?;
    let origin = Origin {
        package: package.name.to_owned(),
        version: package.version.to_owned(),
        integrity,
        blake3: hash(&folder.join(&executable))?,
        executable,
    };
    let path = folder.join(MANIFEST);
    let text =
        serde_json::to_vec_pretty(&origin).map_err(|error| io("write", &path)(error.into()))?;
    fs::write(&path, text).map_err(io("write", &path))
}

/// Reads an installation; `None`: there is none.
fn read(folder: &Path) -> Result<Option<Installed>, InstallError> {
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
    if !is_executable(&executable) {
        return Err(damaged(folder, &format!("{} is no executable file", origin.executable)));
    }
    Ok(Some(Installed {
        executable,
        folder: folder.to_owned(),
        version: origin.version.clone(),
        origin: Some(origin),
    }))
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

fn hash(path: &Path) -> Result<String, InstallError> {
    let mut hasher = blake3::Hasher::new();
    let file = File::open(path).map_err(io("read", path))?;
    hasher.update_reader(file).map_err(io("read", path))?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn damaged(folder: &Path, problem: &str) -> InstallError {
    InstallError::Damaged { folder: folder.to_owned(), problem: problem.to_owned() }
}
