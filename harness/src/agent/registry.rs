//! Finding profiles: those beside the scenarios first, then those compiled in.

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use super::profile::ProfileFile;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../agents");

/// Where profiles and baselines are looked for.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    /// A folder of profiles that come before the built-in ones.
    folder: Option<PathBuf>,
}

/// A profile that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No profile has this name.
    #[error("no agent is called `{name}`: {help}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The next step.
        help: String,
    },
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a profile. The text has place and caret.
    #[error("{path} is not a profile: {message}")]
    Invalid {
        /// The file.
        path: String,
        /// What is wrong, with place and caret where the parser knows them.
        message: String,
    },
}

impl Registry {
    /// Profiles of `folder`, if given, before the built-in ones.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The profile of this name, for all versions of the agent.
    ///
    /// # Errors
    /// When there is none, or when it is broken.
    pub fn profile(&self, name: &str) -> Result<ProfileFile, RegistryError> {
        let file = format!("{name}.toml");
        if let Some((path, text)) = self.text(&file)? {
            return parse(&path, &text);
        }
        let names = self.names()?;
        let help =
            conform_mock_server::document::did_you_mean(name, names.iter().map(String::as_str));
        Err(RegistryError::Unknown { name: name.to_owned(), help })
    }

    /// The names of all profiles, sorted.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, RegistryError> {
        let mut names: Vec<String> =
            BUILT_IN.files().filter_map(|file| stem(file.path())).collect();
        if let Some(folder) = &self.folder {
            let read = |source| RegistryError::Read { path: folder.display().to_string(), source };
            for entry in std::fs::read_dir(folder).map_err(read)? {
                names.extend(stem(&entry.map_err(read)?.path()));
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The baseline of one agent version, with the name of its file, if there is one.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn baseline(
        &self,
        agent: &str,
        version: &str,
    ) -> Result<Option<(String, String)>, RegistryError> {
        self.text(&format!("baselines/{agent}-{version}.toml"))
    }

    fn text(&self, file: &str) -> Result<Option<(String, String)>, RegistryError> {
        if let Some(folder) = &self.folder {
            let path = folder.join(file);
            match std::fs::read_to_string(&path) {
                Ok(text) => return Ok(Some((path.display().to_string(), text))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(RegistryError::Read { path: path.display().to_string(), source });
                }
            }
        }
        let built_in = BUILT_IN.get_file(file).and_then(|found| found.contents_utf8());
        Ok(built_in.map(|text| (format!("built-in agents/{file}"), text.to_owned())))
    }
}

/// Reads a profile from its text; `path` is for messages.
///
/// # Errors
/// What is wrong with it, with place and caret.
pub fn parse(path: &str, text: &str) -> Result<ProfileFile, RegistryError> {
    ProfileFile::parse(text).map_err(|error| RegistryError::Invalid {
        path: path.to_owned(),
        message: error.to_string(),
    })
}

fn stem(path: &Path) -> Option<String> {
    (path.extension()? == "toml").then(|| path.file_stem()?.to_str().map(str::to_owned))?
}
