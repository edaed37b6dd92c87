//! How events are written: line endings and the order of lines.

use crate::script::{EventLine, Framing, LineEnding};

/// A frame in another form.
pub(super) fn reframed(frame: &[u8], framing: &Framing) -> Vec<u8> {
    // Every frame ends with a line feed.
    let body = frame.strip_suffix(b"\n").unwrap_or(frame);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in body.split(|byte| *byte == b'\n') {
        match line.strip_prefix(b"data: ").filter(|_| framing.two_data_lines).and_then(first_comma)
        {
            Some((first, second)) => {
                lines.push([b"data: ", first].concat());
                lines.push([b"data: ", second].concat());
            }
            None => lines.push(line.to_vec()),
        }
    }
    let event_line = lines.iter().position(|line| line.starts_with(b"event: "));
    if let Some(place) = event_line {
        match framing.event_line {
            EventLine::First => {}
            EventLine::Omitted => {
                lines.remove(place);
            }
            EventLine::Last => {
                let line = lines.remove(place);
                let end = lines.iter().position(Vec::is_empty).unwrap_or(lines.len());
                lines.insert(end, line);
            }
        }
    }
    let ending: &[u8] = match framing.line_ending {
        LineEnding::Lf => b"\n",
        LineEnding::CrLf => b"\r\n",
        LineEnding::Cr => b"\r",
    };
    lines.into_iter().flat_map(|line| [line.as_slice(), ending].concat()).collect()
}

/// The data before and after the first comma that is not inside a string: JSON may have a line end
/// there.
fn first_comma(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut in_string, mut escaped) = (false, false);
    for (index, byte) in data.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' if !in_string => return Some(data.split_at(index + 1)),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(framing: &Framing, frame: &str) -> String {
        String::from_utf8(reframed(frame.as_bytes(), framing)).unwrap()
    }

    const FRAME: &str = "event: a\ndata: {\"x\":\",\\\",\",\"y\":1}\n\n";

    #[test]
    fn the_default_changes_nothing() {
        for frame in [FRAME, ": c\n", ": c\n\n", "data: [DONE]\n\n"] {
            assert_eq!(shown(&Framing::default(), frame), frame);
        }
    }

    #[test]
    fn lines_change_their_ends_and_places() {
        let framing = Framing {
            line_ending: LineEnding::CrLf,
            event_line: EventLine::Last,
            two_data_lines: true,
            ..Framing::default()
        };
        assert_eq!(
            shown(&framing, FRAME),
            "data: {\"x\":\",\\\",\",\r\ndata: \"y\":1}\r\nevent: a\r\n\r\n"
        );
        let framing = Framing {
            line_ending: LineEnding::Cr,
            event_line: EventLine::Omitted,
            ..Framing::default()
        };
        assert_eq!(shown(&framing, "event: a\ndata: {}\n\n"), "data: {}\r\r");
    }
}
