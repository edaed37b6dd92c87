//! Frames: the markup around a planted text.

use std::ops::Range;

/// The shortest code fence; a fence is named by its run of backticks (`CommonMark` 0.31, 4.5).
const FENCE: &str = "```";

/// The markup that is open around `extent`, outermost first: `<name …>` … `</name>` as `name`, and
/// code fences as ```` ``` ```` or longer. Only markup that is closed again after the extent counts; what
/// stands inside the extent is part of the planted text and never a frame.
pub fn frames_around(text: &str, extent: &Range<usize>) -> Vec<String> {
    let before = text.get(..extent.start).unwrap_or_default();
    let after = text.get(extent.end..).unwrap_or_default();
    let open = open_at_end(before);
    closed_in(after, &open)
}

/// How often the text ends a frame of this name: by an unescaped closing tag, compared without case,
/// or by a fence that is as long.
pub fn closing_tags(text: &str, name: &str) -> usize {
    let closes = |mark: &Mark<'_>| match mark {
        Mark::Open(_) => false,
        Mark::Close(found) => found.eq_ignore_ascii_case(name),
        Mark::Fence(run) => is_fence(name) && ends_fence(run, name),
    };
    marks(text).iter().filter(|mark| closes(mark)).count()
}

fn is_fence(frame: &str) -> bool {
    frame.starts_with(FENCE)
}

/// Whether a run of backticks ends the fence that another opened.
fn ends_fence(run: &str, opened: &str) -> bool {
    run.len() >= opened.len()
}

/// The names of the tags that a text opens.
pub(super) fn opening_tags(text: &str) -> Vec<&str> {
    marks(text)
        .into_iter()
        .filter_map(|mark| match mark {
            Mark::Open(name) => Some(name),
            Mark::Close(_) | Mark::Fence(_) => None,
        })
        .collect()
}

/// A piece of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark<'a> {
    Open(&'a str),
    Close(&'a str),
    /// A line that begins with this run of backticks.
    Fence(&'a str),
}

fn open_at_end(text: &str) -> Vec<&str> {
    let mut open: Vec<&str> = Vec::new();
    for mark in marks(text) {
        let closed = match mark {
            Mark::Open(name) => {
                open.push(name);
                continue;
            }
            Mark::Close(name) => open.iter().rposition(|frame| *frame == name),
            Mark::Fence(run) => match open.iter().rposition(|frame| is_fence(frame)) {
                None => {
                    open.push(run);
                    continue;
                }
                // A shorter run within a fence is text.
                at => at.filter(|at| ends_fence(run, open[*at])),
            },
        };
        if let Some(at) = closed {
            open.truncate(at);
        }
    }
    open
}

/// Which of the open frames the text ends.
fn closed_in(text: &str, open: &[&str]) -> Vec<String> {
    let mut waiting: Vec<&str> = open.to_vec();
    let mut inner: Vec<&str> = Vec::new();
    let mut closed: Vec<&str> = Vec::new();
    for mark in marks(text) {
        if let Mark::Open(name) = mark {
            inner.push(name);
            continue;
        }
        let ends = |frame: &&str| match mark {
            Mark::Open(_) => false,
            Mark::Close(name) => *frame == name,
            Mark::Fence(run) => is_fence(frame) && ends_fence(run, frame),
        };
        if let Some(at) = inner.iter().rposition(ends) {
            inner.truncate(at);
        } else if let Some(at) = waiting.iter().rposition(ends) {
            closed.push(waiting[at]);
            waiting.truncate(at);
            inner.clear();
        } else if let Mark::Fence(run) = mark
            && !waiting.iter().any(|frame| is_fence(frame))
        {
            inner.push(run);
        }
    }
    closed.reverse();
    closed.into_iter().map(str::to_owned).collect()
}

fn marks(text: &str) -> Vec<Mark<'_>> {
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(step) = text[at..].find(['<', '`']) {
        let start = at + step;
        let rest = &text[start..];
        if rest.starts_with(FENCE) {
            let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
            let end = start + rest.len() - rest.trim_start_matches('`').len();
            if text[line..start].trim().is_empty() {
                marks.push(Mark::Fence(&text[start..end]));
            }
            at = end;
        } else if let Some((mark, length)) = tag(rest) {
            marks.extend(mark);
            at = start + length;
        } else {
            at = start + 1;
        }
    }
    marks
}

/// The tag at the start of the text and its length; a self-closing one is no mark.
fn tag(text: &str) -> Option<(Option<Mark<'_>>, usize)> {
    let inside = text.strip_prefix('<')?;
    let end = inside.find(['<', '>']).filter(|end| inside[*end..].starts_with('>'))?;
    let length = end + 2;
    let inside = &inside[..end];
    let (closes, inside) = inside.strip_prefix('/').map_or((false, inside), |rest| (true, rest));
    let name_end = inside
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')))
        .unwrap_or(inside.len());
    let (name, attributes) = inside.split_at(name_end);
    let first = name.chars().next()?;
    if !(first.is_alphabetic() || first == '_')
        || !attributes.starts_with(|c: char| c.is_whitespace() || c == '/')
            && !attributes.is_empty()
    {
        return None;
    }
    if closes {
        return attributes.trim().is_empty().then_some((Some(Mark::Close(name)), length));
    }
    let mark = (!attributes.ends_with('/')).then_some(Mark::Open(name));
    Some((mark, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames around `@@` in a text.
    fn around(text: &str) -> Vec<String> {
        let start = text.find("@@").expect("the test text holds @@");
        frames_around(text, &(start..start + 2))
    }

    #[test]
    fn tags_and_fences_are_listed_outermost_first() {
        assert_eq!(around("<a x=\"1\">\n<b-c>\n@@\n</b-c></a>"), ["a", "b-c"]);
        assert_eq!(around("<a>\n```text\n@@\n```\n</a>"), ["a", "```"]);
        assert_eq!(around("before @@ after"), Vec::<String>::new());
    }

    #[test]
    fn a_fence_ends_with_one_that_is_as_long() {
        assert_eq!(around("`````\n@@\n`````"), ["`````"]);
        assert_eq!(around("`````\n```\n@@\n```\n`````"), ["`````"]);
        assert_eq!(around("```\n`````\n@@\n```"), Vec::<String>::new());
        assert_eq!(closing_tags("a\n`````\nb", "`````"), 1);
        assert_eq!(closing_tags("a\n```\nb", "`````"), 0);
        assert_eq!(closing_tags("a\n`````\nb", "tag"), 0);
    }

    #[test]
    fn closed_self_closing_and_never_closed_tags_are_no_frames() {
        assert_eq!(around("<a>1</a>@@<b>2</b>"), Vec::<String>::new());
        assert_eq!(around("<a/><br />@@</a>"), Vec::<String>::new());
        assert_eq!(around("a < b and Vec<String> @@"), Vec::<String>::new());
        assert_eq!(around("```\ncode\n```\n@@"), Vec::<String>::new());
    }

    #[test]
    fn an_unclosed_tag_inside_a_frame_does_not_hide_the_frame() {
        assert_eq!(around("<a>Vec<T> @@ <c>x</c></a>"), ["a"]);
        assert_eq!(around("<a>@@ Vec<T> </a>"), ["a"]);
    }

    #[test]
    fn markup_inside_the_extent_is_not_a_frame() {
        let text = "<a><x>planted</x></a>";
        assert_eq!(frames_around(text, &(3..17)), ["a"]);
        let closing = "<a>one</a> planted</a>";
        assert_eq!(frames_around(closing, &(3..18)), ["a"]);
    }

    #[test]
    fn closing_tags_are_counted_unless_escaped() {
        assert_eq!(closing_tags("</rules> x </RULES > y", "rules"), 2);
        assert_eq!(closing_tags("<\\/rules> &lt;/rules&gt; </rules2>", "rules"), 0);
    }
}
