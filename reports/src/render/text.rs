//! Text from elsewhere, made safe and short enough to show.

use std::borrow::Cow;

/// Longest excerpt, in lines.
pub(super) const LINES: usize = 40;
/// Longest excerpt, in characters.
const CHARACTERS: usize = 4_000;
/// Longest text on one line, in characters.
const ONE_LINE: usize = 160;

/// The text with every character that has no visible form, or that would move or turn what
/// surrounds it, written out as an escape such as `\u{1b}`. Newlines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Control characters, formats that reorder or vanish, tags, and what XML cannot hold.
fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}'
        | '\u{ffff}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => c.is_control(),
    }
}

/// The text as shown in a block: visible, and cut where it is long, with a word on what is left
/// out. Never empty.
pub fn excerpt(text: &str) -> String {
    let (lines, characters) = (text.lines().count(), text.chars().count());
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    if text.trim().is_empty() {
        return format!("(white space only, {characters} characters)");
    }
    let head: String = text.chars().take(CHARACTERS).collect();
    let mut shown: Vec<_> = head.lines().take(LINES).map(visible).collect();
    if lines > LINES || characters > CHARACTERS {
        let note = format!("(cut: {lines} lines, {characters} characters in the record)");
        shown.push(Cow::Owned(note));
    }
    shown.join("\n")
}

/// A name on one line, whole: visible, white space folded. For what must stay distinct.
pub fn name(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    visible(&folded).into_owned()
}

/// The text on one line: visible, white space folded, cut where it is long.
pub fn one_line(text: &str) -> String {
    one_line_within(text, ONE_LINE)
}

/// The text on one line of at most so many characters.
pub(super) fn one_line_within(text: &str, characters: usize) -> String {
    let whole = name(text);
    if whole.chars().count() <= characters {
        return whole;
    }
    let mut cut: String = whole.chars().take(characters.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_terminal_is_not_commanded_and_hidden_text_is_shown() {
        assert_eq!(visible("\u{1b}[2Jok\r\u{0}"), "\\u{1b}[2Jok\\u{d}\\u{0}");
        assert_eq!(visible("a\u{202e}b\u{e0041}\u{200b}"), "a\\u{202e}b\\u{e0041}\\u{200b}");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let text = "tab\there\nжük 日本 🦀 “quoted”";
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn a_cut_says_what_is_left_out() {
        let long = "line\n".repeat(LINES + 5);
        let shown = excerpt(&long);
        assert_eq!(shown.lines().count(), LINES + 1);
        assert!(shown.ends_with("(cut: 45 lines, 225 characters in the record)"), "{shown}");
        assert_eq!(excerpt("a\nb\n"), "a\nb");
        assert_eq!(excerpt(""), "(empty)");
        assert_eq!(excerpt("\n \n"), "(white space only, 3 characters)");
    }

    proptest! {
        #[test]
        fn one_line_is_one_short_line(text in any::<String>()) {
            let line = one_line(&text);
            prop_assert!(line.chars().count() <= ONE_LINE);
            prop_assert!(!line.chars().any(char::is_control), "{:?}", line);
        }

        #[test]
        fn what_is_visible_stays_visible(text in any::<String>()) {
            let once = visible(&text).into_owned();
            prop_assert_eq!(visible(&once), once.as_str());
        }
    }
}
