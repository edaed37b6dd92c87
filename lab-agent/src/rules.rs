//! Finding project rules: the `AGENTS.md` files from the project root down to the working folder.

use std::path::{Path, PathBuf};

use crate::defect::{Defect, Defects};

const RULE_FILE: &str = "AGENTS.md";
const ROOT_MARKS: [&str; 2] = [".git", ".lab-root"];

/// One rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleFile {
    /// The path from the project root, as the frame shows it.
    pub(crate) shown: String,
    /// Where the text came from, after links.
    pub(crate) file: PathBuf,
    pub(crate) text: String,
}

/// What the walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Wider first, nearest last; files without text are left out.
    pub(crate) files: Vec<RuleFile>,
    /// Files that do not apply, each with the reason.
    pub(crate) ignored: Vec<String>,
}

/// A rule file that is there and cannot be read: working on without it would drop a rule in silence.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the rule file {}: {source}; make it a readable UTF-8 text, or remove it", .file.display())]
pub(crate) struct RulesError {
    file: PathBuf,
    source: std::io::Error,
}

/// Loads the rules for a canonical working folder.
///
/// The project root is the nearest folder, from `cwd` upwards, that holds `.git` or `.lab-root`;
/// without one it is `cwd` itself. Nothing above the root, beside the path or, through a link,
/// outside the root is loaded.
pub(crate) fn load(cwd: &Path, trusted: bool, defects: &Defects) -> Result<Rules, RulesError> {
    let mut rules = Rules::default();
    if !trusted && !defects.has(Defect::UntrustedRulesLoaded) {
        return Ok(rules);
    }
    let root = project_root(cwd, defects);
    for folder in folders(root, cwd, defects) {
        rules.take(root, &folder)?;
    }
    if defects.has(Defect::NearestRulesOnly) {
        rules.files = rules.files.pop().into_iter().collect();
    }
    Ok(rules)
}

fn project_root<'a>(cwd: &'a Path, defects: &Defects) -> &'a Path {
    let marked =
        |folder: &&Path| ROOT_MARKS.iter().any(|mark| folder.join(mark).symlink_metadata().is_ok());
    let root = cwd.ancestors().find(marked).unwrap_or(cwd);
    match root.parent() {
        Some(parent) if defects.has(Defect::RulesBeyondRoot) => parent,
        _ => root,
    }
}

/// The folders from the root to the working folder.
fn folders(root: &Path, cwd: &Path, defects: &Defects) -> Vec<PathBuf> {
    if defects.has(Defect::SiblingRules) {
        return every_folder(root);
    }
    let mut chain: Vec<PathBuf> =
        cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_owned).collect();
    chain.reverse();
    chain
}

/// The root and every folder below it, in the order of their names.
fn every_folder(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    let mut at = 0;
    while at < found.len() {
        let entries = std::fs::read_dir(&found[at]).into_iter().flatten().flatten();
        let mut below: Vec<PathBuf> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect();
        below.sort();
        found.extend(below);
        at += 1;
    }
    found
}

impl Rules {
    fn take(&mut self, root: &Path, folder: &Path) -> Result<(), RulesError> {
        let spelled = folder.join(RULE_FILE);
        let shown = spelled.strip_prefix(root).unwrap_or(&spelled).display().to_string();
        if spelled.symlink_metadata().is_err() {
            return Ok(());
        }
        let fail = |source| RulesError { file: spelled.clone(), source };
        let file = match spelled.canonicalize() {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.ignored.push(format!("{shown}: a link to nothing"));
                return Ok(());
            }
            Err(source) => return Err(fail(source)),
        };
        if !file.starts_with(root) {
            self.ignored.push(format!("{shown}: a link that leaves the project"));
        } else if !file.is_file() {
            self.ignored.push(format!("{shown}: not a regular file"));
        } else {
            let text = std::fs::read_to_string(&file).map_err(fail)?;
            if !text.trim().is_empty() {
                self.files.push(RuleFile { shown, file, text });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// `base/project/{.git,a/b,a/side}` with a rule file in each folder and one above.
    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["project/.git", "project/a/b", "project/a/side"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        for name in ["", "project", "project/a", "project/a/b", "project/a/side"] {
            fs::write(base.join(name).join(RULE_FILE), format!("rules of [{name}]")).unwrap();
        }
        (folder, base)
    }

    fn shown(cwd: &Path, defects: &[Defect]) -> Vec<String> {
        let rules = load(cwd, true, &defects.iter().copied().collect()).unwrap();
        rules.files.into_iter().map(|rule| rule.shown).collect()
    }

    #[test]
    fn the_chain_goes_from_the_root_to_the_working_folder() {
        let (_folder, base) = project();
        let cwd = base.join("project/a/b");
        assert_eq!(shown(&cwd, &[]), ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"]);
        assert_eq!(shown(&base.join("project"), &[]), ["AGENTS.md"]);
    }

    #[test]
    fn without_a_mark_the_working_folder_is_the_root() {
        let (_folder, base) = project();
        fs::remove_dir(base.join("project/.git")).unwrap();
        assert_eq!(shown(&base.join("project/a/b"), &[]), ["AGENTS.md"]);
        fs::write(base.join("project/a/.lab-root"), "").unwrap();
        assert_eq!(shown(&base.join("project/a/b"), &[]), ["AGENTS.md", "b/AGENTS.md"]);
    }

    #[test]
    fn an_untrusted_folder_supplies_nothing() {
        let (_folder, base) = project();
        let cwd = base.join("project/a");
        assert_eq!(load(&cwd, false, &Defects::default()).unwrap(), Rules::default());
        let defects = [Defect::UntrustedRulesLoaded].into_iter().collect();
        assert_eq!(load(&cwd, false, &defects).unwrap().files.len(), 2);
    }

    #[test]
    fn a_link_out_of_the_project_is_ignored_and_reported() {
        let (_folder, base) = project();
        let cwd = base.join("project/a");
        fs::remove_file(cwd.join(RULE_FILE)).unwrap();
        symlink(base.join(RULE_FILE), cwd.join(RULE_FILE)).unwrap();
        let rules = load(&cwd, true, &Defects::default()).unwrap();
        assert_eq!(rules.files.len(), 1);
        assert_eq!(rules.ignored, ["a/AGENTS.md: a link that leaves the project"]);
    }

    #[test]
    fn a_file_that_is_no_text_stops_the_run() {
        let (_folder, base) = project();
        fs::write(base.join("project/a").join(RULE_FILE), [0xff, 0xfe]).unwrap();
        let error = load(&base.join("project/a"), true, &Defects::default()).unwrap_err();
        assert!(error.to_string().contains("UTF-8 text"), "{error}");
    }

    #[test]
    fn each_discovery_defect_widens_or_narrows_the_chain() {
        let (_folder, base) = project();
        let cwd = base.join("project/a/b");
        assert_eq!(shown(&cwd, &[Defect::NearestRulesOnly]), ["a/b/AGENTS.md"]);
        assert_eq!(shown(&cwd, &[Defect::RulesBeyondRoot])[0], "AGENTS.md");
        assert_eq!(shown(&cwd, &[Defect::RulesBeyondRoot]).len(), 4);
        let siblings = shown(&cwd, &[Defect::SiblingRules]);
        assert!(siblings.contains(&"a/side/AGENTS.md".to_owned()), "{siblings:?}");
    }
}
