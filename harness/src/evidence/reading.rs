//! Readings: a text as it was before a runtime escaped, numbered or quoted it.

use std::ops::Range;

/// A character and the bytes of the original text that stand for it.
pub(super) type Placed = (char, Range<usize>);

/// How lines may have been prefixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    Number,
    Quote,
}

/// All readings of a text that differ from one another in kind, the plainest first.
pub(super) fn readings(text: &str) -> impl Iterator<Item = Vec<Placed>> {
    let plain: Vec<Placed> =
        text.char_indices().map(|(at, c)| (c, at..at + c.len_utf8())).collect();
    let once = unescape_json(&plain);
    let twice = unescape_json(&once);
    [plain, once, twice].into_iter().flat_map(|unescaped| {
        let decoded = decode_entities(&unescaped);
        [unescaped, decoded].into_iter().flat_map(|decoded| {
            [Prefix::None, Prefix::Number, Prefix::Quote]
                .into_iter()
                .map(move |prefix| strip_prefixes(&decoded, prefix))
        })
    })
}

/// Undoes the escapes of a JSON string; anything else after a backslash stays.
fn unescape_json(text: &[Placed]) -> Vec<Placed> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some((c, range)) = text.get(at) {
        let escaped = (*c == '\\').then(|| text.get(at + 1)).flatten();
        let simple = escaped.and_then(|(c, _)| match c {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            '"' | '\\' | '/' => Some(*c),
            _ => None,
        });
        let (found, length) = match (simple, escaped) {
            (Some(found), _) => (found, 2),
            (None, Some(('u', _))) => unicode_escape(&text[at..]).unwrap_or((*c, 1)),
            _ => (*c, 1),
        };
        let end = text.get(at + length - 1).map_or(range.end, |(_, last)| last.end);
        out.push((found, range.start..end));
        at += length;
    }
    out
}

/// The character of `\uXXXX`, or of a surrogate pair, and its length.
fn unicode_escape(text: &[Placed]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits: String = text.get(at + 2..at + 6)?.iter().map(|(c, _)| *c).collect();
        let marked = text.get(at)?.0 == '\\' && text.get(at + 1)?.0 == 'u';
        marked.then(|| u32::from_str_radix(&digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 6));
    }
    let second = unit(6).filter(|second| (0xDC00..0xE000).contains(second))?;
    let code = 0x10000 + (first.checked_sub(0xD800)? << 10) + (second - 0xDC00);
    char::from_u32(code).map(|c| (c, 12))
}

/// Decodes the character references of HTML and XML that runtimes use for escaping.
fn decode_entities(text: &[Placed]) -> Vec<Placed> {
    const LONGEST: usize = 10;
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some((c, range)) = text.get(at) {
        let window = &text[at..text.len().min(at + LONGEST)];
        let end = (*c == '&').then(|| window.iter().position(|(c, _)| *c == ';')).flatten();
        let decoded = end.and_then(|end| {
            let name: String = window[1..end].iter().map(|(c, _)| *c).collect();
            entity(&name).map(|c| (c, end))
        });
        if let Some((found, end)) = decoded {
            out.push((found, range.start..window[end].1.end));
            at += end + 1;
        } else {
            out.push((*c, range.clone()));
            at += 1;
        }
    }
    out
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// Takes line numbers (`12: `, `12→`, `12|`, `L12: `) or quote marks (`> `, `| `, `+`, `-`) off the
/// start of each line.
fn strip_prefixes(text: &[Placed], prefix: Prefix) -> Vec<Placed> {
    if prefix == Prefix::None {
        return text.to_vec();
    }
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|(c, _)| *c == '\n') {
        let skip = match prefix {
            Prefix::Number => number_prefix(line),
            Prefix::Quote => quote_prefix(line),
            Prefix::None => 0,
        };
        out.extend_from_slice(&line[skip..]);
    }
    out
}

fn number_prefix(line: &[Placed]) -> usize {
    let chars = || line.iter().map(|(c, _)| *c);
    let blank = chars().take_while(|c| matches!(c, ' ' | '\t')).count();
    let letter = usize::from(chars().nth(blank) == Some('L'));
    let digits = chars().skip(blank + letter).take_while(char::is_ascii_digit).count();
    if digits == 0 {
        return 0;
    }
    let after = blank + letter + digits;
    let gap = chars().skip(after).take_while(|c| *c == ' ').count();
    match chars().nth(after + gap) {
        Some(':' | '|' | '→' | '\t' | '.' | ')') => after + gap + 1,
        _ if gap > 0 => after + gap,
        _ => 0,
    }
}

fn quote_prefix(line: &[Placed]) -> usize {
    let blank = line.iter().take_while(|(c, _)| matches!(c, ' ' | '\t')).count();
    match line.get(blank) {
        Some(('>' | '|' | '+' | '-', _)) => blank + 1,
        _ => 0,
    }
}
