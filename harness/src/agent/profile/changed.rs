//! A profile file: the agent as it is, and as it was or will be in other versions.
//!
//! `[[changed]]` names a range of versions and holds whatever keys of the profile differ there. All
//! that apply to a version are laid over the profile in the order of the file, before it is read as
//! one; so what comes out has been read and looked at like any other profile.

mod lay;
#[cfg(test)]
mod tests;

use semver::Version;
use toml::{Table, Value};

use self::lay::lay;
use super::{Install, Profile, ProfileError};

/// What no version can have of its own.
pub(super) const FIXED: [&str; 4] = ["schema", "name", "versions", "changed"];

/// The text of a profile, read: what the agent is like in each of its versions.
#[derive(Debug, Clone)]
pub struct ProfileFile {
    base: Profile,
    /// The oldest first; empty where nothing differs.
    shapes: Vec<Shape>,
}

/// What the agent is like from one version on, up to the next shape.
#[derive(Debug, Clone)]
struct Shape {
    /// `None`: from the first version ever.
    from: Option<Version>,
    profile: Profile,
}

/// What is wrong with a profile file.
#[derive(Debug, thiserror::Error)]
pub enum ProfileFileError {
    /// It has not the form of a profile.
    #[error(transparent)]
    Form(#[from] toml::de::Error),
    /// It says what cannot be.
    #[error(transparent)]
    Invalid(#[from] ProfileError),
    /// One of its overlays is wrong, or makes a profile that is.
    #[error("{overlay}: {problem}")]
    Overlay {
        /// Which one, with its range.
        overlay: String,
        /// What is wrong with it.
        problem: OverlayError,
    },
}

/// What is wrong with an overlay, or with the profile once it is laid over it.
#[derive(Debug, thiserror::Error)]
pub enum OverlayError {
    /// No range.
    #[error("it names no versions; add `before = \"1.2.0\"` or `since = \"1.2.0\"`")]
    NoRange,
    /// An end of the range that is none.
    #[error("`{key} = {value}` is no version; write all of it as a text, such as \"1.2.0\"")]
    Version {
        /// `before` or `since`.
        key: &'static str,
        /// What stands there, as TOML.
        value: String,
    },
    /// A range without a version.
    #[error("no version is since {since} and before {before}; `since` must be the older one")]
    NoVersions {
        /// The first version of the range.
        since: Version,
        /// The first version after it.
        before: Version,
    },
    /// A key that is the same in all versions.
    #[error("it holds `{key}`, which is the same in every version; take it out")]
    Fixed {
        /// The key.
        key: &'static str,
    },
    /// The profile has not the form of one any more.
    #[error("the profile is none with it: {0}")]
    Form(toml::de::Error),
    /// The profile says what cannot be.
    #[error("the profile is none with it: {0}")]
    Invalid(#[from] ProfileError),
}

impl ProfileFile {
    /// Reads the text of a profile. Whatever version is asked for later has a sound profile.
    ///
    /// # Errors
    /// What is wrong with the profile, with place and caret, or with one of its overlays.
    pub fn parse(text: &str) -> Result<Self, ProfileFileError> {
        let mut base: Profile = toml::from_str(text)?;
        base.validate()?;
        let overlays = std::mem::take(&mut base.changed);
        let overlays = overlays.into_iter().enumerate().map(|(index, keys)| {
            let number = index + 1;
            Overlay::read(number, keys).map_err(|problem| ProfileFileError::Overlay {
                overlay: format!("`[[changed]]` number {number}"),
                problem,
            })
        });
        let overlays: Vec<Overlay> = overlays.collect::<Result<_, _>>()?;
        let mut table: Table = toml::from_str(text)?;
        table.remove("changed");
        let shapes = starts(&overlays).into_iter().map(|from| {
            let applying = overlays.iter().filter(|overlay| overlay.applies(from.as_ref()));
            let profile = shape(&table, &applying.collect::<Vec<_>>())?;
            Ok(Shape { from, profile })
        });
        let shapes = shapes.collect::<Result<_, ProfileFileError>>()?;
        Ok(Self { base, shapes })
    }

    /// The profile in one version; `None` and `latest` stand for the first that it lists. An agent
    /// that is not fetched has one version, which nobody can tell, and what is no version can be
    /// fetched by no name: for these, the profile without its overlays.
    pub fn at(&self, version: Option<&str>) -> &Profile {
        let version = match version {
            None | Some("latest") => self.base.default_version(),
            Some(version) => version,
        };
        match (&self.base.install, Version::parse(version)) {
            (Install::Npm { .. } | Install::Pip { .. }, Ok(version)) => self.shape(&version),
            (Install::BuiltIn | Install::Path { .. }, _) | (_, Err(_)) => &self.base,
        }
    }

    /// The profile without its overlays: the agent where no version is known.
    pub fn base(&self) -> &Profile {
        &self.base
    }

    /// The versions from which on the agent is another, the oldest first.
    pub fn changes(&self) -> impl Iterator<Item = &Version> {
        self.shapes.iter().filter_map(|shape| shape.from.as_ref())
    }

    fn shape(&self, version: &Version) -> &Profile {
        let begun = |shape: &&Shape| shape.from.as_ref().is_none_or(|from| from <= version);
        self.shapes.iter().rev().find(begun).map_or(&self.base, |shape| &shape.profile)
    }
}

/// Keys of a profile for a range of versions: those since one, before one, or between two.
#[derive(Debug)]
struct Overlay {
    /// Its place in the file, from 1.
    number: usize,
    since: Option<Version>,
    before: Option<Version>,
    keys: Table,
}

impl Overlay {
    fn read(number: usize, mut keys: Table) -> Result<Self, OverlayError> {
        let mut end = |key| keys.remove(key).map(|value| version(key, &value)).transpose();
        let (since, before) = (end("since")?, end("before")?);
        match (&since, &before) {
            (None, None) => return Err(OverlayError::NoRange),
            (Some(since), Some(before)) if since >= before => {
                let (since, before) = (since.clone(), before.clone());
                return Err(OverlayError::NoVersions { since, before });
            }
            _ => {}
        }
        match FIXED.into_iter().find(|key| keys.contains_key(*key)) {
            Some(key) => Err(OverlayError::Fixed { key }),
            None => Ok(Self { number, since, before, keys }),
        }
    }

    /// Whether it applies from this version on, up to the next end of a range; `None`: from the
    /// first version ever.
    fn applies(&self, from: Option<&Version>) -> bool {
        let begun = self.since.as_ref().is_none_or(|since| from.is_some_and(|from| since <= from));
        begun && self.before.as_ref().is_none_or(|before| from.is_none_or(|from| from < before))
    }
}

impl std::fmt::Display for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`[[changed]]` number {} (", self.number)?;
        match (&self.since, &self.before) {
            (Some(since), Some(before)) => write!(f, "since {since}, before {before})"),
            (Some(since), None) => write!(f, "since {since})"),
            (None, Some(before)) => write!(f, "before {before})"),
            (None, None) => write!(f, "every version)"),
        }
    }
}

fn version(key: &'static str, value: &Value) -> Result<Version, OverlayError> {
    let parsed = value.as_str().and_then(|text| Version::parse(text).ok());
    parsed.ok_or_else(|| OverlayError::Version { key, value: value.to_string() })
}

/// Where shapes begin: at the first version ever, and at every end of a range.
fn starts(overlays: &[Overlay]) -> Vec<Option<Version>> {
    let ends = overlays.iter().flat_map(|overlay| [&overlay.since, &overlay.before]);
    let mut starts: Vec<Option<Version>> = ends.filter(|end| end.is_some()).cloned().collect();
    if !starts.is_empty() {
        starts.push(None);
    }
    starts.sort();
    starts.dedup();
    starts
}

/// The profile with these overlays over it. If it is none, the overlay to blame is the first with
/// which it is none.
fn shape(base: &Table, overlays: &[&Overlay]) -> Result<Profile, ProfileFileError> {
    read(base, overlays).map_err(|problem| {
        let blamed = (1..=overlays.len()).find_map(|count| {
            let (last, _) = overlays.get(..count)?.split_last()?;
            Some((*last, read(base, overlays.get(..count)?).err()?))
        });
        match (blamed, problem) {
            (Some((overlay, problem)), _) => {
                ProfileFileError::Overlay { overlay: overlay.to_string(), problem }
            }
            // Nothing lies over it: it is the profile itself.
            (None, OverlayError::Invalid(problem)) => problem.into(),
            (None, OverlayError::Form(problem)) => problem.into(),
            (None, problem) => {
                ProfileFileError::Overlay { overlay: "the profile".to_owned(), problem }
            }
        }
    })
}

fn read(base: &Table, overlays: &[&Overlay]) -> Result<Profile, OverlayError> {
    let mut table = base.clone();
    for overlay in overlays {
        lay("", &mut table, &overlay.keys);
    }
    let profile: Profile = table.try_into().map_err(OverlayError::Form)?;
    profile.validate()?;
    Ok(profile)
}
