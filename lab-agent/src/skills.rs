//! Finding skills: each a folder of `.agents/skills` with a `SKILL.md`, listed by its head alone.
//!
//! The text below the head is read by the model, with the tool `read`, when it needs the skill.

use std::path::Path;

use crate::defect::{Defect, Defects};

const FOLDER: &str = ".agents/skills";
/// Most characters of a description in the listing.
const LONGEST: usize = 1024;

/// One skill, as the listing shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    /// The path from the working folder, under which it can be read.
    pub(crate) shown: String,
    /// Its name and description, and its text only where a defect lists that too.
    pub(crate) listed: String,
}

/// The skills of a working folder, by name; a file that has no head is none.
pub(crate) fn load(cwd: &Path, trusted: bool, defects: &Defects) -> Vec<Skill> {
    if !trusted && !defects.has(Defect::UntrustedRulesLoaded) {
        return Vec::new();
    }
    let entries = std::fs::read_dir(cwd.join(FOLDER)).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
        .into_iter()
        .filter_map(|name| {
            let shown = format!("{FOLDER}/{name}/SKILL.md");
            let text = std::fs::read_to_string(cwd.join(&shown)).ok()?;
            let (head, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
            let listed = if defects.has(Defect::SkillBodiesListed) {
                format!("{}\n{body}", listing(head)?)
            } else {
                listing(head)?
            };
            Some(Skill { shown, listed })
        })
        .collect()
}

/// The name and the description of a head, the description no longer than the listing takes.
fn listing(head: &str) -> Option<String> {
    let field = |name: &str| {
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    };
    let (name, description) = (field("name")?, field("description")?);
    let description: String = description.chars().take(LONGEST).collect();
    Some(format!("{name}: {description}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(trusted: bool, defects: &[Defect]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("b", "---\nname: b\ndescription: Second.\n---\nThe body of b.\n"),
            ("a", "---\nname: a\ndescription: First.\n---\nThe body of a.\n"),
            ("headless", "No head.\n"),
        ] {
            let at = folder.path().join(FOLDER).join(name);
            std::fs::create_dir_all(&at).unwrap();
            std::fs::write(at.join("SKILL.md"), text).unwrap();
        }
        let skills = load(folder.path(), trusted, &defects.iter().copied().collect());
        skills.into_iter().map(|skill| skill.listed).collect()
    }

    #[test]
    fn heads_are_listed_by_name_and_bodies_are_not() {
        assert_eq!(listed(true, &[]), ["a: First.", "b: Second."]);
        assert!(listed(true, &[Defect::SkillBodiesListed])[0].contains("The body of a."));
    }

    #[test]
    fn an_untrusted_folder_has_no_skills() {
        assert!(listed(false, &[]).is_empty());
    }
}
