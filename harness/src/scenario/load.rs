//! Loads scenario files.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use conform_mock_server::document::{Diagnostic, Place, Source};

use super::files::{Reading, read_documents, read_source};
use super::model::Scenario;
use super::parse;

/// The folder whose sub-folders are the families.
const ROOT: &str = "scenarios";

/// What was loaded from a selection.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// Everything wrong with the files.
    pub problems: Vec<Diagnostic>,
}

/// Loads one file.
///
/// # Errors
/// All that is wrong with it.
pub fn load_file(path: &Path) -> Result<Scenario, Vec<Diagnostic>> {
    let source = read_source(path, "scenario").map_err(|problem| vec![*problem])?;
    parse::scenario(&source, family_of(path))
}

/// Loads a scenario that is at hand already; its family is told by the source's name, a path.
///
/// # Errors
/// All that is wrong with it.
pub fn load_source(source: &Arc<Source>) -> Result<Scenario, Vec<Diagnostic>> {
    parse::scenario(source, family_of(Path::new(source.name())))
}

/// Loads files and folders; of a folder, every `*.yaml` and `*.yml` below it, sorted by name. A
/// file that several paths reach is loaded once; an id that several files claim is an error.
pub fn load_paths(paths: &[PathBuf]) -> Loaded {
    let Reading { documents, problems } = read_documents(paths, "scenario");
    let mut loaded = Loaded { scenarios: Vec::new(), problems };
    let mut places: HashMap<String, Place> = HashMap::new();
    for (path, source) in documents {
        match parse::scenario(&source, family_of(&path)) {
            Err(problems) => loaded.problems.extend(problems),
            Ok(scenario) => {
                let place = Place::new(&source, scenario.id_span);
                if let Some(first) = places.get(&scenario.id) {
                    loaded.problems.push(
                        Diagnostic::error(
                            place,
                            format!("the id `{}` is taken: it stands at {first}", scenario.id),
                        )
                        .with_help("give one of the two scenarios another id"),
                    );
                } else {
                    places.insert(scenario.id.clone(), place);
                    loaded.scenarios.push(scenario);
                }
            }
        }
    }
    loaded
}

/// The first folder below the nearest folder named `scenarios`, else the file's own folder. A file
/// that stands directly in `scenarios` has none.
fn family_of(path: &Path) -> Option<String> {
    let absolute = path.canonicalize().or_else(|_| std::path::absolute(path)).ok()?;
    let folders: Vec<&OsStr> = absolute
        .parent()?
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let family = match folders.iter().rposition(|name| *name == OsStr::new(ROOT)) {
        Some(root) => folders.get(root + 1),
        None => folders.last(),
    };
    family.map(|name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(path: &str) -> Option<String> {
        family_of(Path::new(path))
    }

    #[test]
    fn the_family_is_the_first_folder_below_scenarios() {
        let injection = Some("injection".to_owned());
        assert_eq!(family("/x/scenarios/injection/a.yaml"), injection);
        assert_eq!(family("/x/scenarios/injection/deep/a.yaml"), injection);
        assert_eq!(family("/scenarios/x/scenarios/injection/a.yaml"), injection);
        assert_eq!(family("/x/injection/a.yaml"), injection);
        assert_eq!(family("/x/scenarios/a.yaml"), None);
        assert_eq!(family("/a.yaml"), None);
    }
}
