//! Listing the published versions of an agent, with small scripts in the package managers' places.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use conform::agent::install::{InstallError, Published, Store};
use conform::agent::profile::Profile;

const NPM: &str = "source = 'npm'\npackage = '@some/tool'\nexecutable = 'tool'";
const PIP: &str = "source = 'pip'\npackage = 'tool'\npython = ['3.11']\nexecutable = 'bin/tool'";

/// Asks for the versions where the program `name` is this script; without a name there is none.
fn published(install: &str, program: &str, script: &str) -> Result<Published, InstallError> {
    let folder = tempfile::tempdir().unwrap();
    if !program.is_empty() {
        let path = folder.path().join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = format!(
        "schema = 1\nname = 'tool'\ntitle = 'Tool'\nversions = ['1.2.3']\ndrivers = []\n\
         [install]\n{install}\n[policy]\n[tools]\n"
    );
    let profile: Profile = toml::from_str(&text).unwrap();
    Store::open(folder.path().join("cache")).searching(folder.path()).published(&profile)
}

fn versions(found: &Published) -> Vec<String> {
    found.versions.iter().map(ToString::to_string).collect()
}

#[test]
fn npm_lists_versions_in_json() {
    let found = published(
        NPM,
        "npm",
        "test \"$*\" = 'view @some/tool versions --json --loglevel=error' || exit 9\n\
         echo '[\"1.10.0\", \"1.2.0\", \"1.2.0-beta.1\", \"1.2\"]'",
    )
    .unwrap();
    assert_eq!(versions(&found), ["1.2.0-beta.1", "1.2.0", "1.10.0"]);
    assert_eq!(found.others, ["1.2"]);
    // The only version of a package stands alone.
    assert_eq!(versions(&published(NPM, "npm", "echo '\"1.0.0\"'").unwrap()), ["1.0.0"]);
}

#[test]
fn npm_is_run_where_no_project_is() {
    let here = std::env::current_dir().unwrap();
    let script = format!("test \"$PWD\" != '{}' && echo '\"1.0.0\"'", here.display());
    published(NPM, "npm", &script).unwrap();
}

#[test]
fn pip_lists_versions_in_a_line() {
    let script = "case \"$1 $2\" in\n\
        '-c '*) echo 3.11 ;;\n\
        '-m venv') mkdir -p venv/bin; cp \"$0\" venv/bin/python ;;\n\
        *) echo 'tool (1.1.0)'; echo 'Available versions: 1.1.0, 1.0.0, 0.9, 0.8.0rc1' ;;\n\
        esac";
    let found = published(PIP, "python3", script).unwrap();
    assert_eq!(versions(&found), ["1.0.0", "1.1.0"]);
    assert_eq!(found.others, ["0.9", "0.8.0rc1"]);
    let script =
        script.replace("*) echo 'tool", "*) echo 'ERROR: no such package' >&2; exit 1; echo 'tool");
    let error = published(PIP, "python3", &script).unwrap_err();
    assert!(matches!(error, InstallError::Unlisted { .. }), "{error}");
    assert!(error.to_string().contains("says \"no such package\""), "{error}");
}

#[test]
fn what_gives_no_list_is_said() {
    let fails =
        |code: &str| format!("echo 'npm error code {code}' >&2; echo 'npm error x' >&2; exit 1");
    let error = published(NPM, "npm", &fails("E404")).unwrap_err();
    assert!(matches!(error, InstallError::NoSuchPackage { .. }), "{error}");
    let error = published(NPM, "npm", &fails("ENOTFOUND")).unwrap_err();
    assert!(matches!(error, InstallError::Network { .. }), "{error}");
    for script in ["exit 3", "echo '{}'", "echo 1.0.0", ":"] {
        let error = published(NPM, "npm", script).unwrap_err();
        assert!(matches!(error, InstallError::Unlisted { .. }), "{script}: {error}");
    }
    let error = published(NPM, "", "").unwrap_err();
    assert!(matches!(error, InstallError::NpmMissing { .. }), "{error}");
    for install in ["source = 'built-in'", "source = 'path'\nexecutable = 'tool'"] {
        let error = published(install, "tool", "").unwrap_err();
        assert!(matches!(error, InstallError::NotPublished { .. }), "{error}");
    }
}
