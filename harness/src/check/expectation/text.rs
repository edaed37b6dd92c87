//! Texts that must or must not stand in another.

use crate::case::LateText;
use crate::check::ledger::Breach;
use crate::check::run::Run;

/// What is asked of texts, in words.
pub(super) fn names(contains: &[LateText], excludes: &[LateText]) -> String {
    let quoted = |texts: &[LateText]| {
        texts.iter().map(|text| format!("`{}`", text.display())).collect::<Vec<_>>().join(", ")
    };
    match (contains.is_empty(), excludes.is_empty()) {
        (false, false) => {
            format!("contains {} and not {}", quoted(contains), quoted(excludes))
        }
        (true, false) => format!("does not contain {}", quoted(excludes)),
        (_, true) => format!("contains {}", quoted(contains)),
    }
}

/// Every text in `contains` must stand in one of the texts, those in `excludes` in none.
pub(super) fn breaches(
    run: &Run<'_>,
    texts: &[&str],
    contains: &[LateText],
    excludes: &[LateText],
) -> Vec<Breach> {
    let seen = || {
        let shown: Vec<String> = texts.iter().map(|text| run.excerpt(text)).collect();
        format!("`{}`", shown.join("`, `"))
    };
    let lacking = contains.iter().filter_map(|wanted| {
        let text = run.resolve(wanted);
        let found = texts.iter().any(|candidate| candidate.contains(&text));
        (!found).then(|| Breach::missing(format!("text with `{}`", wanted.display()), seen()))
    });
    let excess = excludes.iter().filter_map(|unwanted| {
        let text = run.resolve(unwanted);
        let found = texts.iter().any(|candidate| candidate.contains(&text));
        found.then(|| Breach::seen(format!("text without `{}`", unwanted.display()), seen()))
    });
    lacking.chain(excess).collect()
}
