//! The one case that is meant.

use conform::case::Case;
use conform::suite::{Filter, Suite};

/// So many cases are named in a message.
const NAMED: usize = 10;

/// The case of this id, or the only one that fits the filter.
pub(super) fn pick(mut suite: Suite, case: &str) -> anyhow::Result<Case> {
    if let Some(index) = suite.cases.iter().position(|found| found.id == case) {
        return Ok(suite.cases.swap_remove(index));
    }
    suite.retain(&Filter::new(&[case.to_owned()])?);
    let ids: Vec<&str> = suite.cases.iter().map(|found| found.id.as_str()).collect();
    match ids.len() {
        0 => anyhow::bail!("no case id fits `{case}`; `conform list` shows the ids"),
        1 => Ok(suite.cases.swap_remove(0)),
        count => {
            let more = match count.saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let some: Vec<&str> = ids.into_iter().take(NAMED).collect();
            anyhow::bail!("{count} cases fit `{case}`, name one: {}{more}", some.join(", "))
        }
    }
}
