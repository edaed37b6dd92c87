//! A case that did not pass, explained.

use super::diff::diff;
use super::style::Styles;
use super::text::{excerpt, name, one_line, one_line_within};
use crate::record::{CaseRecord, Finding, Metrics, VariantName, Verdict};

/// Columns before the text of a field.
const LABEL: usize = 10;

/// Longest text of each side, expected and seen, in a headline.
const SIDE: usize = 80;

/// Everything a reader needs to know about a case that did not pass, over several lines without a
/// newline at the end; `None` for a case that passed.
pub fn case_block(case: &CaseRecord, styles: &Styles) -> Option<String> {
    let mut lines = vec![title(case)];
    match &case.verdict {
        Verdict::Pass => return None,
        Verdict::Fail { findings } => {
            lines.extend(dangerous_calls(case, styles));
            lines.extend(findings.iter().flat_map(|finding| finding_lines(case, finding, styles)));
        }
        Verdict::Known { findings, reason } => {
            field(&mut lines, styles, "known", reason);
            lines.extend(dangerous_calls(case, styles));
            lines.extend(findings.iter().flat_map(|finding| finding_lines(case, finding, styles)));
        }
        Verdict::Error { kind, message, help } => {
            lines.push(format!("{0}{kind}{0:#}", styles.strong));
            field(&mut lines, styles, "message", message);
            field(&mut lines, styles, "help", help);
            field(&mut lines, styles, "scenario", &case.location.to_string());
        }
        Verdict::Skip { reason } => field(&mut lines, styles, "reason", reason),
        Verdict::Flaky { verdicts } => {
            field(&mut lines, styles, "verdicts", &verdicts.join(", "));
            field(&mut lines, styles, "scenario", &case.location.to_string());
        }
    }
    Some(lines.join("\n"))
}

/// What a case came to, on one line.
pub fn headline(case: &CaseRecord) -> String {
    match &case.verdict {
        Verdict::Pass => "every check held".to_owned(),
        Verdict::Fail { findings } => findings_line(findings),
        Verdict::Error { kind, message, .. } => format!("{kind}: {}", one_line(message)),
        Verdict::Known { reason, .. } | Verdict::Skip { reason } => one_line(reason),
        Verdict::Flaky { verdicts } => {
            format!("repeats disagree: {}", one_line(&verdicts.join(", ")))
        }
    }
}

fn findings_line(findings: &[Finding]) -> String {
    let Some(first) = findings.first() else {
        return "failed, without a finding in the record".to_owned();
    };
    let more = match findings.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let what = if is_one_line(&first.expected) && is_one_line(&first.seen) {
        let [expected, seen] =
            [&first.expected, &first.seen].map(|text| one_line_within(text, SIDE));
        format!("expected {expected}, seen {seen}")
    } else {
        format!("{} does not hold", one_line(&first.check))
    };
    format!("{} ({}): {what}{more}", name(&first.clause), first.severity)
}

fn is_one_line(text: &str) -> bool {
    !text.trim().is_empty() && text.lines().nth(1).is_none()
}

fn title(case: &CaseRecord) -> String {
    let title = one_line(&case.title);
    if case.reports.is_empty() {
        return title;
    }
    format!("{title} (reported as {})", one_line(&case.reports.join(", ")))
}

/// What was tried and what got through, of a case with dangerous calls.
fn dangerous_calls(case: &CaseRecord, styles: &Styles) -> Vec<String> {
    let Metrics { attempted, executed, approvals } = case.metrics;
    let mut lines = Vec::new();
    if attempted > 0 || executed > 0 {
        let text = format!(
            "attempted {attempted}, executed {executed}, approval requests raised {approvals}"
        );
        field(&mut lines, styles, "danger", &text);
    }
    lines
}

fn finding_lines(case: &CaseRecord, finding: &Finding, styles: &Styles) -> Vec<String> {
    let mut lines = vec![format!(
        "{0}{1} {2}{0:#}, first lost at {0}{3}{0:#}",
        styles.strong,
        finding.severity,
        name(&finding.clause),
        finding.layer
    )];
    let check = match finding.variant {
        VariantName::Main => finding.check.clone(),
        VariantName::Control => format!("{}, in the control run", finding.check),
    };
    field(&mut lines, styles, "check", &check);
    field(&mut lines, styles, "asked at", &finding.location.to_string());
    if let Some(place) = place_in_request(case, finding) {
        field(&mut lines, styles, "request", &place);
    }
    if let Some(difference) = diff(&finding.expected, &finding.seen, styles) {
        field(&mut lines, styles, "diff", "- expected, + seen");
        lines.extend(difference.lines().map(|line| format!("  {:LABEL$}{line}", "")));
    } else {
        field(&mut lines, styles, "expected", &finding.expected);
        field(&mut lines, styles, "seen", &finding.seen);
    }
    lines
}

/// The request a finding is about: its number, the place in it, and where its body is kept.
fn place_in_request(case: &CaseRecord, finding: &Finding) -> Option<String> {
    let number = finding.request?;
    let pointer = match finding.pointer.as_deref() {
        Some("") => " as a whole".to_owned(),
        Some(pointer) => format!(" at {pointer}"),
        None => String::new(),
    };
    let body = case
        .evidence
        .get(&finding.variant)
        .and_then(|evidence| evidence.requests.iter().find(|request| request.number == number))
        .and_then(|request| request.body.as_deref())
        .map(|body| format!("\n{body}"));
    Some(format!("{number}{pointer}{}", body.unwrap_or_default()))
}

/// A label, and its text beside it; further lines stand below the first.
fn field(lines: &mut Vec<String>, styles: &Styles, label: &str, text: &str) {
    let mut label = label;
    for line in excerpt(text).lines() {
        lines.push(format!("  {0}{label:LABEL$}{0:#}{line}", styles.faint));
        label = "";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Severity;
    use crate::sample;

    #[test]
    fn a_case_that_passed_needs_no_block() {
        assert_eq!(case_block(&sample::passing("a.b"), &Styles::plain()), None);
    }

    #[test]
    fn a_headline_names_the_gravest_clause_and_counts_the_rest() {
        let case = sample::failing(&[Severity::Must, Severity::Info]);
        assert_eq!(
            headline(&case),
            "injection.hijack-contained (must): expected no file changes, seen created \
             workspace/deployed.txt (and 1 more)"
        );
    }

    #[test]
    fn a_long_expectation_does_not_push_out_what_was_seen() {
        let finding = Finding { expected: "x".repeat(500), ..sample::finding() };
        let verdict = Verdict::Fail { findings: vec![finding] };
        let line = headline(&CaseRecord { verdict, ..sample::passing("a.b") });
        assert!(line.ends_with("x…, seen created workspace/deployed.txt"), "{line}");
    }

    #[test]
    fn colours_change_nothing_in_the_text() {
        for case in sample::cases() {
            let plain = case_block(&case, &Styles::plain()).unwrap_or_default();
            let coloured = case_block(&case, &Styles::coloured()).unwrap_or_default();
            assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
        }
    }

    #[test]
    fn blocks_of_every_verdict() {
        let blocks: Vec<_> = sample::cases()
            .iter()
            .filter_map(|case| {
                let block = case_block(case, &Styles::plain())?;
                Some(format!("{}: {}\n{block}\n", case.case, headline(case)))
            })
            .collect();
        insta::assert_snapshot!(blocks.join("\n"));
    }
}
