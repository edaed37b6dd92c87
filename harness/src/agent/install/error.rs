//! What can go wrong with an installation, each with the way on.

use std::io;
use std::path::PathBuf;

/// An agent could not be installed or found.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no place for the cache.
    #[error("no cache folder: set CONFORM_CACHE (or HOME) to a folder's absolute path")]
    NoCache,
    /// The profile's name cannot name a folder.
    #[error("the agent name {0:?} cannot name a folder; use letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// The version is not an exact one.
    #[error("{version:?} is no exact version of {agent}; write one such as {agent}@{example}")]
    NotExact {
        /// Profile name.
        agent: String,
        /// What was asked for.
        version: String,
        /// A version that would do.
        example: String,
    },
    /// The profile names no version, and none was asked for.
    #[error("the profile {agent} lists no version; ask for one, as in {agent}@1.2.3")]
    NoVersion {
        /// Profile name.
        agent: String,
    },
    /// What is already on the machine has one version only.
    #[error(
        "{agent} is not fetched by version: this machine has {here}, not {version}; leave the version out"
    )]
    OtherVersion {
        /// Profile name.
        agent: String,
        /// What was asked for.
        version: String,
        /// What there is.
        here: String,
    },
    /// The program of a `path` profile is nowhere.
    #[error(
        "{executable} is not an executable file on this machine (PATH was searched); install it, or correct `install.executable` in the profile"
    )]
    NotOnPath {
        /// As the profile names it.
        executable: String,
    },
    /// There is no npm.
    #[error(
        "npm is needed to install {package}, but it is not on PATH; install Node.js, which brings it"
    )]
    NpmMissing {
        /// The package.
        package: String,
    },
    /// npm knows no such version.
    #[error(
        "{package} has no version {version}: npm says {said:?}; `npm view {package} versions` lists them"
    )]
    NoSuchVersion {
        /// The package.
        package: String,
        /// The version.
        version: String,
        /// npm's words.
        said: String,
    },
    /// npm knows no such package.
    #[error(
        "there is no package {package}: npm says {said:?}; correct `install.package` in the profile, or log in with npm if it is private"
    )]
    NoSuchPackage {
        /// The package.
        package: String,
        /// npm's words.
        said: String,
    },
    /// npm cannot reach its registry.
    #[error(
        "npm cannot reach its registry for {package}: it says {said:?}; check the network and npm's proxy settings, then try again"
    )]
    Network {
        /// The package.
        package: String,
        /// npm's words.
        said: String,
    },
    /// npm failed otherwise.
    #[error(
        "npm could not install {package}@{version} ({ended}): it says {said:?}; try `npm install {package}@{version}` in an empty folder to see all of it"
    )]
    Npm {
        /// The package.
        package: String,
        /// The version.
        version: String,
        /// How npm ended.
        ended: String,
        /// npm's words.
        said: String,
    },
    /// npm did something else than it was asked.
    #[error(
        "npm installed {package} {found}, not {version}; remove what overrides it in npm's configuration"
    )]
    WrongVersion {
        /// The package.
        package: String,
        /// The version asked for.
        version: String,
        /// What its lock file names.
        found: String,
    },
    /// What is to be unpacked is not compressed in the one way that is known.
    #[error(
        "`install.unpack` names {name}, which does not end in .br; name a file that is compressed with Brotli, or leave it out"
    )]
    Compression {
        /// The file.
        name: String,
    },
    /// There is no private Node.js for this machine.
    #[error(
        "the agent needs a Node.js of its own, and there is none for {arch}; use x86_64 or aarch64"
    )]
    NoNode {
        /// The machine's architecture.
        arch: &'static str,
    },
    /// There is no Python that the agent can use.
    #[error(
        "{package} needs Python {wanted}, and there is none on PATH; install python{example} (on Debian with python3-venv)"
    )]
    PythonMissing {
        /// The package.
        package: String,
        /// The versions that would do.
        wanted: String,
        /// One of them.
        example: String,
    },
    /// Python cannot make a virtual environment.
    #[error(
        "{python} cannot make a virtual environment: it says {said:?}; install its venv module (on Debian python3-venv)"
    )]
    Venv {
        /// The Python.
        python: PathBuf,
        /// Its words.
        said: String,
    },
    /// pip failed.
    #[error(
        "pip could not install {package}=={version}: it says {said:?}; check the version, the network and pip's settings, then install again"
    )]
    Pip {
        /// The package.
        package: String,
        /// The version.
        version: String,
        /// pip's words.
        said: String,
    },
    /// The package manager does not say which versions there are.
    #[error(
        "cannot list the versions of {package}: its package manager says {said:?}; check the network and the package manager's settings, then try again"
    )]
    Unlisted {
        /// The package.
        package: String,
        /// The package manager's words.
        said: String,
    },
    /// The agent is not fetched, so there is no list of its versions.
    #[error(
        "{agent} is not fetched from a package, so it has no list of published versions; name an agent that `conform agents install` fetches"
    )]
    NotPublished {
        /// Profile name.
        agent: String,
    },
    /// The profile's pattern does not lead to one executable.
    #[error(
        "`{pattern}` must be one executable file in the package, but {found}; correct `install.executable` in the profile (a package may have nothing for this machine)"
    )]
    Executable {
        /// The pattern.
        pattern: String,
        /// What is there instead.
        found: String,
    },
    /// An installation is not what was installed.
    #[error("the installation {folder} is damaged: {problem}; install it again")]
    Damaged {
        /// Its folder.
        folder: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A file operation failed.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Gives a file operation its words.
pub(super) fn io(
    what: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> InstallError {
    move |source| InstallError::Io { what, path: path.into(), source }
}
