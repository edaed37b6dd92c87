use std::{fs, os::unix::fs::symlink, path::Path};

use proptest::prelude::*;

use super::*;

fn workspace(base: &Path, defects: &Defects) -> Workspace {
    Workspace::new(base.join("work"), &base.join("home/.lab"), &[], defects).unwrap()
}

fn rulebook(policy: Policy, defects: &[Defect]) -> Rulebook {
    Rulebook { policy, network: false, defects: defects.iter().copied().collect() }
}

fn rule(policy: Policy, call: ToolCall, defects: &[Defect]) -> Ruling {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir_all(base.join("work")).unwrap();
    fs::create_dir_all(base.join("home/.lab")).unwrap();
    let rulebook = rulebook(policy, defects);
    let workspace = workspace(&base, &rulebook.defects);
    let target = call.path().map(|path| workspace.locate(path).unwrap());
    rulebook.rule(&Action { call, target }, &workspace)
}

fn shell(command: &str) -> ToolCall {
    ToolCall::Shell { command: command.to_owned(), timeout_ms: None }
}

fn write(path: &str) -> ToolCall {
    ToolCall::Write { path: path.to_owned(), content: "x".to_owned() }
}

fn read(path: &str) -> ToolCall {
    ToolCall::Read { path: path.to_owned() }
}

#[test]
fn each_policy_rules_as_documented() {
    use Policy::{Ask, Full, ReadOnly, Workspace as Free};
    let kind = |ruling| match ruling {
        Ruling::Run => "run",
        Ruling::Ask(_) => "ask",
        Ruling::Deny(_) => "deny",
    };
    #[rustfmt::skip]
    let table = [
        // call                       read-only ask    workspace full
        (shell("ls"),                 ["run",  "run", "run", "run"]),
        (shell("touch a"),            ["deny", "ask", "ask", "run"]),
        (shell("cat ../home/.lab/k"), ["deny", "ask", "ask", "run"]),
        (shell("curl http://a/"),     ["deny", "ask", "ask", "run"]),
        (write("a"),                  ["deny", "ask", "run", "run"]),
        (write("../a"),               ["deny", "ask", "ask", "run"]),
        (write("AGENTS.md"),          ["deny", "ask", "ask", "run"]),
        (write("../home/.lab/k"),     ["deny", "ask", "ask", "run"]),
        (read("a"),                   ["run",  "run", "run", "run"]),
        (read("/etc/hostname"),       ["run",  "run", "run", "run"]),
        (read("../home/.lab/k"),      ["deny", "deny", "deny", "run"]),
    ];
    for (call, expected) in table {
        for (policy, expected) in [ReadOnly, Ask, Free, Full].into_iter().zip(expected) {
            let ruling = kind(rule(policy, call.clone(), &[]));
            assert_eq!(ruling, expected, "{policy:?} {call:?}");
        }
    }
}

#[test]
fn two_defects_open_one_gate_each() {
    let ignored = [Defect::ReadOnlyIgnored];
    assert_eq!(rule(Policy::ReadOnly, shell("touch a"), &ignored), Ruling::Run);
    assert!(matches!(rule(Policy::ReadOnly, write("a"), &ignored), Ruling::Deny(_)));
    assert!(matches!(rule(Policy::Ask, shell("touch a"), &ignored), Ruling::Ask(_)));
    let own = [Defect::OwnRulesWritable];
    assert_eq!(rule(Policy::Workspace, write("AGENTS.md"), &own), Ruling::Run);
    assert!(matches!(rule(Policy::Workspace, write("../a"), &own), Ruling::Ask(_)));
}

/// Path strings made of parts that lead up, out, around and nowhere.
fn any_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("a"),
        Just("sub"),
        Just("new"),
        Just(".."),
        Just("."),
        Just(""),
        Just("out"),
        Just("absolute"),
        Just("up"),
        Just("dangling"),
        Just("chain"),
        Just("loop"),
        Just("work"),
        Just("outside"),
        Just("home"),
        Just(".lab"),
        Just("file"),
    ];
    (prop::collection::vec(part, 1..7), 0..4_u8).prop_map(|(parts, start)| {
        let path = parts.join("/");
        match start {
            0 => format!("BASE/{path}"),
            1 => format!("BASE/work/{path}"),
            _ => path,
        }
    })
}

/// Every path below a folder with its content, links not followed.
fn listing(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content =
                if metadata.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
            found.push((path.display().to_string(), content));
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Builds the tree, makes the calls that policy workspace lets run, and tells whether anything
/// beyond the workspace changed.
fn escapes(paths: &[String], defects: &[Defect]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for name in ["work/sub", "outside/sub", "home/.lab"] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    for name in ["work/file", "outside/file", "home/.lab/file", "file"] {
        fs::write(base.join(name), "before").unwrap();
    }
    symlink("../outside", base.join("work/out")).unwrap();
    symlink(base.join("outside"), base.join("work/absolute")).unwrap();
    symlink("..", base.join("work/sub/up")).unwrap();
    symlink("sub/up/..", base.join("work/up")).unwrap();
    symlink("../outside/new", base.join("work/dangling")).unwrap();
    symlink("out/sub", base.join("work/chain")).unwrap();
    symlink("loop", base.join("work/loop")).unwrap();
    symlink("../work", base.join("outside/work")).unwrap();

    let beyond = || {
        let work = base.join("work").display().to_string() + "/";
        let mut all = listing(&base);
        all.retain(|(path, _)| !path.starts_with(&work));
        all
    };
    let before = beyond();
    let rulebook = rulebook(Policy::Workspace, defects);
    let workspace = workspace(&base, &rulebook.defects);
    let shell = crate::tools::Shell::new(
        base.join("work"),
        crate::tools::ShellEnvironment::scrub(|_| None, &base),
    );
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for path in paths {
        let call = write(&path.replace("BASE", &base.display().to_string()));
        let Ok(target) = workspace.locate(call.path().unwrap()) else { continue };
        let action = Action { call, target: Some(target) };
        if rulebook.rule(&action, &workspace) == Ruling::Run {
            runtime.block_on(action.run(&shell));
        }
    }
    before != beyond()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_path_escapes_the_workspace_without_a_decision(
        paths in prop::collection::vec(any_path(), 1..5)
    ) {
        prop_assert!(!escapes(&paths, &[]), "{paths:?}");
    }
}

#[test]
fn the_oracle_of_the_law_sees_an_escape() {
    for path in ["../file", "out/file", "dangling", "sub/up/../outside/new"] {
        let paths = [path.to_owned()];
        assert!(escapes(&paths, &[Defect::WriteOutsideWorkspace]), "{path}");
        assert!(!escapes(&paths, &[]), "{path}");
    }
}
