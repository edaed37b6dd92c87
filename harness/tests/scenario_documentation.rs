//! The examples of the grammar's documentation load and expand.

use conform::case::expand;
use conform::{matrix, scenario};
use conform_mock_server::document::{Diagnostic, Source, render};

const PAGE: &str = include_str!("../../docs/scenarios.md");

/// The YAML blocks of the page, each after as many line breaks as stand above it, so that reports
/// name the page's own lines.
fn examples() -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    let mut open = false;
    for (index, line) in PAGE.lines().enumerate() {
        match (open, line) {
            (false, "```yaml") => {
                open = true;
                examples.push("\n".repeat(index + 1));
            }
            (true, "```") => open = false,
            (true, line) => {
                if let Some(example) = examples.last_mut() {
                    example.push_str(line);
                    example.push('\n');
                }
            }
            (false, _) => {}
        }
    }
    examples
}

fn report(problems: &[Diagnostic]) -> String {
    problems.iter().map(render).collect()
}

#[test]
fn every_example_loads_and_expands() {
    let sources = examples().into_iter().map(|text| Source::new("docs/scenarios.md", text));
    let (matrices, scenarios): (Vec<_>, Vec<_>) =
        sources.partition(|source| source.text().contains("\naxes:"));
    assert_eq!((matrices.len(), scenarios.len()), (1, 3));
    let matrices: Vec<_> = matrices
        .iter()
        .map(|source| {
            matrix::load_source(source)
                .map_err(|problems| report(&problems))
                .unwrap_or_else(|text| panic!("{text}"))
        })
        .collect();
    let mut ids = Vec::new();
    for source in &scenarios {
        let scenario = scenario::load_source(source)
            .map_err(|problems| report(&problems))
            .unwrap_or_else(|text| panic!("{text}"));
        let expansion = expand(&scenario, &matrices)
            .map_err(|problems| report(&problems))
            .unwrap_or_else(|text| panic!("{text}"));
        ids.extend(expansion.cases.into_iter().map(|case| case.id));
        ids.extend(expansion.skipped.into_iter().map(|skip| format!("{} is left out", skip.id)));
    }
    assert_eq!(
        ids,
        [
            "injection.readme-deploy.careful",
            "injection.readme-deploy.hijacked",
            "steer.one-word",
            "injection.orders.file.careful",
            "injection.orders.file.hijacked",
            "injection.orders.page.careful",
            "injection.orders.page.hijacked is left out",
        ]
    );
}
