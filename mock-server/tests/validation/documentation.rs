//! The tables of the documentation are those of the code.

use std::fmt::Write as _;
use std::path::PathBuf;

use conform_mock_server::client_verdict::{Kind, Thresholds};
use conform_mock_server::provider::Provider;
use conform_mock_server::validate::{Level, RuleId};
use conform_mock_server::wire::Wire;

fn rules() -> String {
    let mut table =
        String::from("| rule | wire | on | refusal | demand |\n| --- | --- | --- | --- | --- |\n");
    for id in RuleId::ALL {
        let rule = id.rule();
        let level = match rule.level {
            Level::Always => "always",
            Level::Lenient => "lenient",
            Level::Strict => "strict",
            Level::Named => "by name",
        };
        let mut refusal = format!("{} `{}`", rule.status, rule.kind);
        for (name, value) in [("code", rule.code), ("param", rule.param)] {
            if let Some(value) = value {
                let _ = write!(refusal, ", {name} `{value}`");
            }
        }
        let (wire, demands) = (rule.wire, rule.demands);
        let _ = writeln!(table, "| {id} | {wire} | {level} | {refusal} | {demands} |");
    }
    table
}

fn providers() -> String {
    let mut table = String::from(
        "| provider | wires | rules by name | what it is |\n| --- | --- | --- | --- |\n",
    );
    for provider in Provider::builtin() {
        let wires: Vec<_> = provider.wires.iter().map(|wire| Wire::name(*wire)).collect();
        let on: Vec<_> = provider.rules.on.iter().map(|rule| rule.name()).collect();
        let Provider { name, summary, .. } = &provider;
        let (wires, on) = (wires.join(", "), on.join(" "));
        let _ = writeln!(table, "| `{name}` | {wires} | {on} | {summary} |");
    }
    table
}

#[test]
fn the_documentation_has_every_rule_and_provider() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/mock-server-strict.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut expected = text.clone();
    for (name, table) in [("rules", rules()), ("providers", providers())] {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let from = expected.find(&begin).expect("a mark") + begin.len();
        let to = expected.find(&end).expect("a mark");
        expected.replace_range(from..to, &table);
    }
    // As snapshots are written, so is this one.
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert!(text == expected, "docs/mock-server-strict.md: run this with INSTA_UPDATE=always");
}

#[test]
fn the_documentation_names_every_misstep_and_threshold() {
    let text = include_str!("../../../docs/mock-server-strict.md");
    for kind in Kind::ALL {
        assert!(text.contains(&format!("| `{}` | {} |", kind.name(), kind.severity().name())));
    }
    let Thresholds { longest_wait, key_renewals, attempts, short_waits, shortest_wait } =
        Thresholds::default();
    for figure in [
        format!("| `longest_wait` | {} s |", longest_wait.as_secs()),
        format!("| `key_renewals` | {key_renewals} |"),
        format!("| `attempts` | {attempts} |"),
        format!("| `short_waits` | {short_waits} |"),
        format!("| `shortest_wait` | {} ms |", shortest_wait.as_millis()),
    ] {
        assert!(text.contains(&figure), "{figure}");
    }
}
