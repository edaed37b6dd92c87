//! Which versions of an agent were published.

use semver::Version;

use super::error::{InstallError, io};
use super::store::Store;
use super::{npm, pip};
use crate::agent::profile::{Install, Profile};

/// The published versions of an agent's package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Those that can be installed by their version, the oldest first.
    pub versions: Vec<Version>,
    /// Those whose name is no semantic version, as the package manager writes them.
    pub others: Vec<String>,
}

impl Store {
    /// Asks the agent's package manager which versions were published: npm, or the pip that would
    /// install them. Blocks until it has answered.
    ///
    /// # Errors
    /// When the agent is not fetched from a package, or its package manager is missing or has no
    /// answer.
    pub fn published(&self, profile: &Profile) -> Result<Published, InstallError> {
        // Of its own, as an installation has one: a project's settings must not count.
        let folder = tempfile::tempdir().map_err(io("make a folder in", std::env::temp_dir()))?;
        let names = match &profile.install {
            Install::Npm { package, .. } => {
                npm::versions(&self.npm(package)?, folder.path(), package)?
            }
            Install::Pip { package, python, .. } => {
                pip::versions(folder.path(), package, python, self.search.as_deref())?
            }
            Install::BuiltIn | Install::Path { .. } => {
                return Err(InstallError::NotPublished { agent: profile.name.clone() });
            }
        };
        let mut published = Published { versions: Vec::new(), others: Vec::new() };
        for name in names {
            match Version::parse(&name) {
                Ok(version) => published.versions.push(version),
                Err(_) => published.others.push(name),
            }
        }
        published.versions.sort();
        Ok(published)
    }
}
