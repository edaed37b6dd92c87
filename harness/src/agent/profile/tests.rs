use super::*;
use crate::check::fixture;
use crate::driver::DriverKind;
use crate::scenario::Capability;

#[test]
fn a_policy_is_for_drivers_that_are_there_and_can() {
    let server = AppServerPolicy {
        approval_policy: ApprovalPolicy::Never,
        sandbox: SandboxMode::ReadOnly,
        config: serde_json::Map::new(),
        network: None,
    };
    let lowered = |drivers: &[DriverKind], table: bool, with_server: bool| {
        let mut profile = fixture::profile();
        if with_server {
            let driver = DriverKind::AppServer;
            profile.drivers.push(Launch { driver, ..profile.drivers[0].clone() });
        }
        let lowering = profile.policy.get_mut(&Policy::Ask).expect("known");
        lowering.drivers = Some(drivers.to_vec());
        lowering.app_server = table.then(|| server.clone());
        profile.validate_policies()
    };
    let (exec, app) = (DriverKind::Exec, DriverKind::AppServer);
    lowered(&[exec], false, false).expect("is there");
    lowered(&[app], true, true).expect("has its table");
    for (drivers, table, with_server) in [
        (&[DriverKind::Jsonl][..], false, true),
        (&[app], false, true),
        (&[app], true, false),
        (&[exec], true, true),
    ] {
        let error = lowered(drivers, table, with_server).expect_err("is a slip");
        assert!(error.to_string().starts_with("`policy.ask` is for the driver"), "{error}");
    }
}

#[test]
fn the_documented_profile_is_one() {
    let page = include_str!("../../../../docs/profiles.md");
    let mut examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let (example, _) = examples.next().expect("an example");
    let file = crate::agent::registry::parse("docs/profiles.md", example).expect("a profile");
    assert_eq!(file.base().name, "mine");
    // So is it with what it shows of older versions, which needs another kind of installation.
    let (changed, _) = examples.find(|(text, _)| text.contains("[[changed]]")).expect("another");
    let npm = "source = \"npm\"\npackage = \"mine\"";
    let fetched = example.replacen("source = \"path\"", npm, 1);
    let both = format!("{fetched}\n{changed}\n");
    let file = crate::agent::registry::parse("docs/profiles.md", &both).expect("a profile");
    let shell = |version| file.at(Some(version)).tools["shell"].native.clone();
    assert_eq!([shell("0.132.9"), shell("0.133.0")], ["run_command", "bash"]);
    // Every capability and every driver has a word there.
    let named =
        |name: &str| assert!(page.contains(&format!("`{name}`")), "{name} is not explained");
    for (name, _) in Capability::NAMES {
        named(name);
    }
    for (name, _) in LOGICAL_TOOLS {
        named(name);
    }
}

#[test]
fn compaction_by_usage_needs_its_figure() {
    let mut profile = fixture::profile();
    profile.drivers[0].capabilities.push(Capability::CompactByUsage);
    let error = profile.validate().expect_err("has no figure").to_string();
    assert!(error.contains("`full-usage`"), "{error}");
    profile.contract.full_usage = Some(190_000);
    profile.validate().expect("has its figure");
}

#[test]
fn what_a_capability_switches_has_a_value_on_both_sides() {
    let mut profile = fixture::profile();
    let side = |name: &str| IndexMap::from([(name.to_owned(), String::new())]);
    let required = Requirement { values: side("memory"), otherwise: IndexMap::new() };
    profile.required.insert(Capability::Memory, required);
    profile.environment.insert("MEMORY".to_owned(), "${memory}".to_owned());
    let error = profile.validate().expect_err("has no other side").to_string();
    assert!(error.starts_with("`required.memory`: `memory` stands on one side"), "{error}");
    profile.required[&Capability::Memory].otherwise = side("memory");
    profile.validate().expect("has both");
}

#[test]
fn what_scenarios_put_in_a_common_place_stands_in_the_agents_own() {
    let mut profile = fixture::profile();
    for (common, own) in [(".agents/skills", "home/.mine/skills"), (".agents/m.md", "home/me.md")] {
        profile.kept_in.insert(common.to_owned(), own.to_owned());
    }
    for (path, own) in [
        (".agents/skills/a/SKILL.md", "home/.mine/skills/a/SKILL.md"),
        (".agents/m.md", "home/me.md"),
        (".agents/skills-too/a", "workspace/.agents/skills-too/a"),
        ("a", "workspace/a"),
    ] {
        assert_eq!(profile.path_in_tree(Zone::Workspace, path), own);
    }
    assert_eq!(profile.path_in_tree(Zone::Home, ".agents/m.md"), "home/.agents/m.md");
}
