//! What was expected against what was seen, line by line.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::style::Styles;
use super::text::{LINES, visible};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 2;
/// Lines of each side that are compared; the rest is only counted.
const COMPARED: usize = 400;

/// The difference between two texts, where both have several lines; `None` where showing both is
/// clearer. Lines begin with `-` (expected, not seen), `+` (seen, not expected) or a space.
pub fn diff(expected: &str, seen: &str, styles: &Styles) -> Option<String> {
    if expected.lines().nth(1).is_none() || seen.lines().nth(1).is_none() {
        return None;
    }
    let (expected, expected_rest) = compared(expected);
    let (seen, seen_rest) = compared(seen);
    let changes = TextDiff::from_lines(expected, seen);
    let mut lines = Vec::new();
    for (place, group) in changes.grouped_ops(CONTEXT).iter().enumerate() {
        if place > 0 {
            lines.push(format!("{0}  ...{0:#}", styles.faint));
        }
        for change in group.iter().flat_map(|op| changes.iter_changes(op)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Equal => (' ', styles.faint),
                ChangeTag::Delete => ('-', styles.removed),
                ChangeTag::Insert => ('+', styles.added),
            };
            let text = change.value();
            let mut line = format!("{style}{sign} {}", visible(text.trim_end_matches('\n')));
            if change.tag() != ChangeTag::Equal && change.missing_newline() {
                line.push_str(" (no newline at the end)");
            }
            // Writing to a string does not fail.
            let _ = write!(line, "{style:#}");
            lines.push(line);
        }
    }
    let shown = lines.len();
    lines.truncate(LINES);
    if shown > LINES {
        lines.push(format!("(cut: {} more lines of difference)", shown - LINES));
    }
    if expected_rest + seen_rest > 0 {
        lines.push(format!(
            "(not compared: {expected_rest} further lines expected, {seen_rest} further lines seen)"
        ));
    }
    Some(lines.join("\n"))
}

/// The part of a text that is compared, and how many lines follow it.
fn compared(text: &str) -> (&str, usize) {
    let end = text.split_inclusive('\n').take(COMPARED).map(str::len).sum();
    let (head, rest) = text.split_at(end);
    (head, rest.lines().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_line_and_a_lost_newline_are_shown() {
        let shown = diff("a\nb\nc\nd\n", "a\nc\nd", &Styles::plain()).unwrap();
        assert_eq!(shown, "  a\n- b\n  c\n- d\n+ d (no newline at the end)");
    }

    #[test]
    fn far_changes_are_shown_apart() {
        let expected = format!("first\n{}last\n", "same\n".repeat(9));
        let seen = format!("FIRST\n{}LAST\n", "same\n".repeat(9));
        let shown = diff(&expected, &seen, &Styles::plain()).unwrap();
        assert_eq!(
            shown,
            "- first\n+ FIRST\n  same\n  same\n  ...\n  same\n  same\n- last\n+ LAST"
        );
    }

    #[test]
    fn single_lines_are_not_compared() {
        assert_eq!(diff("a", "b\nc\n", &Styles::plain()), None);
        assert_eq!(diff("a\nb\n", "", &Styles::plain()), None);
    }

    #[test]
    fn control_characters_are_shown_not_sent() {
        let shown = diff("a\nb\n", "a\r\nb\n", &Styles::plain()).unwrap();
        assert_eq!(shown, "- a\n+ a\\u{d}\n  b");
    }

    #[test]
    fn what_is_too_long_is_counted() {
        let expected = "x\n".repeat(COMPARED + 7);
        let shown = diff(&expected, "y\nz\n", &Styles::plain()).unwrap();
        assert_eq!(shown.lines().count(), LINES + 2);
        assert!(
            shown.ends_with("(not compared: 7 further lines expected, 0 further lines seen)"),
            "{shown}"
        );
    }
}
