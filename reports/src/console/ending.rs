//! The end of the report.

use std::collections::BTreeMap;

use super::options::ConsoleOptions;
use super::report::{counted, duration};
use super::table::table;
use crate::gate::Outcome;
use crate::record::{NotRun, RunFinished, Tally};
use crate::render::{Styles, name, one_line};
use crate::summary::Summary;
use crate::tally::Mark;

/// The sections between the cases and the last lines; those with nothing to say are left out.
pub(super) fn sections(summary: &Summary, run: &RunFinished, styles: &Styles) -> Vec<String> {
    let stale = run.stale.iter().map(|entry| name(entry)).collect::<Vec<_>>();
    let not_run = run.not_run.iter().map(not_run).collect::<Vec<_>>();
    [
        section("Not run", &not_run, styles),
        section("Known gaps, as the baseline says", &by_reason(&summary.known), styles),
        section("Skipped", &by_reason(&summary.skips), styles),
        section(
            "Stale baseline entries: no longer failing, so remove them from the baseline",
            &stale,
            styles,
        ),
        section("Cases by agent and family", &families(summary), styles),
        section("Utility and attack success", &figures(summary), styles),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The counts, where the record is, and what the exit status will say and why.
pub(super) fn last_lines(
    selected: usize,
    run: &RunFinished,
    options: &ConsoleOptions,
    styles: &Styles,
) -> String {
    let outcome = options.gate.decide(selected, run);
    let reasons: Vec<_> =
        options.gate.reasons(selected, run).iter().map(ToString::to_string).collect();
    let why = if reasons.is_empty() { standing(&run.tally) } else { reasons.join(", ") };
    let style = match outcome {
        Outcome::Holds => styles.good,
        Outcome::Fails => styles.bad,
        Outcome::Errors
        | Outcome::NothingSelected
        | Outcome::NothingJudged
        | Outcome::Interrupted => styles.caution,
    };
    let cases = counted(run.tally.total(), "case");
    let mut lines = vec![format!("{cases} in {}: {}", duration(run.duration_ms), run.tally)];
    if let Some(record) = &options.record {
        lines.push(format!("record: {}", record.display()));
    }
    lines.push(format!("{style}{outcome}{style:#} (exit status {}): {why}", outcome.exit_status()));
    lines.join("\n")
}

/// What to say when nothing stands against the run.
fn standing(tally: &Tally) -> String {
    let total = tally.total();
    if total == 0 {
        "there was no case to judge; widen the selection".to_owned()
    } else if tally.pass == total {
        "every case passes".to_owned()
    } else if tally.skip == total {
        "every case was skipped, for the reasons above; select cases that the agent can run"
            .to_owned()
    } else {
        let others = Tally { pass: 0, ..*tally };
        format!("nothing stands against it; let through: {others}")
    }
}

fn not_run(agent: &NotRun) -> String {
    let remark = if agent.required { "" } else { " (not required)" };
    format!("{}{remark}: {}", name(&agent.agent), one_line(&agent.why))
}

fn section(title: &str, lines: &[String], styles: &Styles) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let mut text = format!("{0}{title}{0:#}", styles.strong);
    for line in lines {
        text.push_str("\n  ");
        text.push_str(line);
    }
    Some(text)
}

/// Reasons with their counts, the most frequent first.
fn by_reason(reasons: &BTreeMap<String, usize>) -> Vec<String> {
    let mut reasons: Vec<_> = reasons.iter().collect();
    reasons.sort_by_key(|&(_, &count)| std::cmp::Reverse(count));
    reasons
        .into_iter()
        .map(|(reason, &count)| format!("{}: {}", counted(count, "case"), one_line(reason)))
        .collect()
}

/// The table of agents and families, where there is more than one row. Marks nobody has are left
/// out, but for pass and fail.
fn families(summary: &Summary) -> Vec<String> {
    if summary.families.len() < 2 {
        return Vec::new();
    }
    let marks: Vec<_> = Mark::ALL
        .into_iter()
        .filter(|&mark| matches!(mark, Mark::Pass | Mark::Fail) || summary.tally.count(mark) > 0)
        .collect();
    let mut heading = vec!["agent".to_owned(), "family".to_owned()];
    heading.extend(marks.iter().map(ToString::to_string));
    let mut rows = vec![heading];
    for ((agent, family), tally) in &summary.families {
        let mut row = vec![agent.clone(), name(family)];
        row.extend(marks.iter().map(|&mark| match tally.count(mark) {
            0 => "-".to_owned(),
            count => count.to_string(),
        }));
        rows.push(row);
    }
    table(2, &rows)
}

/// Utility, utility under attack and attack success, of agents that met an attack.
fn figures(summary: &Summary) -> Vec<String> {
    let met: Vec<_> = summary.figures.iter().filter(|(_, figures)| !figures.is_empty()).collect();
    if met.is_empty() {
        return Vec::new();
    }
    let heading =
        ["agent", "utility", "utility under attack", "attack success", "attempted", "executed"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (agent, figures) in met {
        rows.push(vec![
            agent.clone(),
            figures.utility.to_string(),
            figures.under_attack.to_string(),
            figures.attack_success.to_string(),
            figures.attempted.to_string(),
            figures.executed.to_string(),
        ]);
    }
    let mut lines = table(1, &rows);
    let (attempted, executed) = summary.dangerous_calls();
    lines.push(format!("dangerous calls attempted {attempted}, executed {executed}"));
    lines
}
