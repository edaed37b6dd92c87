//! Finding the executable in an installation.

use std::path::Path;

use globset::GlobBuilder;

use super::error::{InstallError, io};
use super::path::is_executable;

/// At most this many names are listed in a message.
const LISTED: usize = 10;

/// The one executable file below `folder` that the pattern names, relative to it. `*` stands for
/// any text within one part of the path.
pub(super) fn resolve(folder: &Path, pattern: &str) -> Result<String, InstallError> {
    let wrong = |found: String| InstallError::Executable { pattern: pattern.to_owned(), found };
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        if part.is_empty() || part == ".." {
            return Err(wrong("it is not a plain path below the installation".to_owned()));
        }
        let glob = GlobBuilder::new(part)
            .literal_separator(true)
            .build()
            .map_err(|error| wrong(format!("it is no pattern ({error})")))?
            .compile_matcher();
        let mut next = Vec::new();
        let mut others = Vec::new();
        for parent in &found {
            let names = names(&folder.join(parent))?;
            let (matching, rest): (Vec<_>, Vec<_>) =
                names.into_iter().partition(|name| glob.is_match(name));
            let below = |name: &String| match parent.as_str() {
                "" => name.clone(),
                parent => format!("{parent}/{name}"),
            };
            next.extend(matching.iter().map(below));
            others.extend(rest.iter().map(below));
        }
        if next.is_empty() {
            let there = if others.is_empty() { "nothing".to_owned() } else { listed(&others) };
            return Err(wrong(format!("nothing matches `{part}`; there is {there}")));
        }
        found = next;
    }
    match found.as_slice() {
        [one] if is_executable(&folder.join(one)) => Ok(one.clone()),
        [one] => Err(wrong(format!("{one} is not an executable file"))),
        several => Err(wrong(format!("it matches {}", listed(several)))),
    }
}

/// Sorted names in a folder; none if it is a file.
fn names(folder: &Path) -> Result<Vec<String>, InstallError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io("list", folder))? {
        let entry = entry.map_err(io("list", folder))?;
        // A name that is not UTF-8 cannot be in a profile either.
        names.extend(entry.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

fn listed(names: &[String]) -> String {
    let mut text = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        text.push_str(", …");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn tree(files: &[(&str, u32)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (file, mode) in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        folder
    }

    #[test]
    fn a_star_stands_for_one_part() {
        let folder = tree(&[("a/x86-linux/bin/tool", 0o755), ("a/README", 0o644)]);
        let find = |pattern| resolve(folder.path(), pattern).map_err(|error| error.to_string());
        assert_eq!(find("a/*/bin/tool").unwrap(), "a/x86-linux/bin/tool");
        assert_eq!(find("a/x86-linux/bin/tool").unwrap(), "a/x86-linux/bin/tool");
        assert!(find("*/tool").unwrap_err().contains("there is a/README, a/x86-linux"));
        assert!(find("a/README").unwrap_err().contains("a/README is not an executable file"));
        assert!(find("../a").unwrap_err().contains("plain path"));
        assert!(find("/a").unwrap_err().contains("plain path"));
    }

    #[test]
    fn several_are_listed() {
        let folder = tree(&[("a/one/tool", 0o755), ("a/two/tool", 0o755)]);
        let error = resolve(folder.path(), "a/*/tool").unwrap_err().to_string();
        assert!(error.contains("it matches a/one/tool, a/two/tool"), "{error}");
    }
}
