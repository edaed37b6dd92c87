use std::{fs, os::unix::fs::symlink};

use super::*;

struct Tree {
    _folder: tempfile::TempDir,
    base: PathBuf,
}

/// `base/work` is the workspace, `base/home/.lab` the state, `base/outside` lies beyond.
fn tree() -> Tree {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for name in ["work/sub", "work/.git", "home/.lab", "outside"] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    fs::write(base.join("outside/file"), "outside").unwrap();
    symlink("../outside", base.join("work/out")).unwrap();
    symlink(base.join("outside/new"), base.join("work/dangling")).unwrap();
    symlink("loop", base.join("work/loop")).unwrap();
    symlink("notes/rules.txt", base.join("work/sub/AGENTS.md")).unwrap();
    Tree { _folder: folder, base }
}

fn workspace(tree: &Tree, own: &[PathBuf], defects: &[Defect]) -> Workspace {
    let defects = defects.iter().copied().collect();
    Workspace::new(tree.base.join("work"), &tree.base.join("home/.lab"), own, &defects).unwrap()
}

#[test]
fn places_follow_links_and_parent_steps() {
    let tree = tree();
    let workspace = workspace(&tree, &[], &[]);
    for (spelled, place) in [
        ("a", Place::Inside),
        ("sub/../a", Place::Inside),
        ("new/deeper/a", Place::Inside),
        ("../work/a", Place::Inside),
        ("../a", Place::Outside),
        ("sub/../../a", Place::Outside),
        ("out/file", Place::Outside),
        ("out/new/file", Place::Outside),
        ("dangling", Place::Outside),
        ("out/../work/a", Place::Inside),
        ("/etc/hostname", Place::Outside),
        ("AGENTS.md", Place::OwnConfig),
        ("sub/agents.MD", Place::OwnConfig),
        ("sub/AGENTS.md", Place::OwnConfig),
        (".lab/settings", Place::OwnConfig),
        ("sub/../.git/hooks/pre-commit", Place::OwnConfig),
        (".curlrc", Place::OwnConfig),
        ("sub/.lab-root", Place::OwnConfig),
        ("../home/.lab/x", Place::OwnState),
        ("../home/other", Place::Outside),
    ] {
        assert_eq!(workspace.locate(spelled).unwrap().place, place, "{spelled}");
    }
}

#[test]
fn a_link_to_itself_and_an_empty_path_are_errors() {
    let tree = tree();
    let workspace = workspace(&tree, &[], &[]);
    assert!(matches!(workspace.locate("loop/a"), Err(PathError::Links(_))));
    assert!(matches!(workspace.locate(""), Err(PathError::Empty)));
    assert!(matches!(workspace.locate("a\0b"), Err(PathError::ZeroByte)));
}

#[test]
fn a_second_hard_link_and_a_linked_rule_file_are_not_ordinary() {
    let tree = tree();
    fs::hard_link(tree.base.join("outside/file"), tree.base.join("work/twin")).unwrap();
    let rules = tree.base.join("work/rules.txt");
    fs::write(&rules, "rules").unwrap();
    let workspace = workspace(&tree, &[rules], &[]);
    assert_eq!(workspace.locate("twin").unwrap().place, Place::Outside);
    assert_eq!(workspace.locate("rules.txt").unwrap().place, Place::OwnConfig);
}

#[test]
fn the_spelling_defect_takes_a_parent_step_for_inside_and_keeps_own_files_gated() {
    let tree = tree();
    let workspace = workspace(&tree, &[], &[Defect::WriteOutsideWorkspace]);
    assert_eq!(workspace.locate("../a").unwrap().place, Place::Inside);
    assert_eq!(workspace.locate("out/file").unwrap().place, Place::Inside);
    assert_eq!(workspace.locate("/etc/hostname").unwrap().place, Place::Outside);
    assert_eq!(workspace.locate("AGENTS.md").unwrap().place, Place::OwnConfig);
    assert_eq!(workspace.locate("../home/.lab/x").unwrap().place, Place::OwnState);
}

#[test]
fn words_that_may_reach_the_state_folder_are_noticed() {
    let tree = tree();
    let workspace = workspace(&tree, &[], &[]);
    assert!(workspace.may_reach_state("../home/.lab/x"));
    assert!(workspace.may_reach_state("../home"));
    assert!(workspace.may_reach_state("loop/x"));
    assert!(!workspace.may_reach_state("../outside"));
    assert!(!workspace.may_reach_state("-la"));
}
