//! Server-sent events: bytes in any pieces become the data of whole events.

/// Reads an event stream piece by piece, as the WHATWG HTML standard (section 9.2.6, "Interpreting
/// an event stream") describes it. Only data matters here: comments, names and ids are passed over.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    after_return: bool,
    started: bool,
    data: Option<String>,
}

impl SseParser {
    /// Takes the next bytes and gives the data of every event that they complete. An event that
    /// the stream leaves without its empty line is never given out.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for &byte in bytes {
            let second_of_pair = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if second_of_pair => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        // A line end is never part of a longer character, so every line is whole text.
        let mut line = String::from_utf8_lossy(&line);
        if !std::mem::replace(&mut self.started, true)
            && let Some(rest) = line.strip_prefix('\u{feff}')
        {
            line = rest.to_owned().into();
        }
        if line.is_empty() {
            return self.data.take();
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\"é✓\"}\r\n\r\n:ka\n\n\
        data:one\ndata: two\nid: 7\n\ndata\n\nretry: 5\n\ndata: tail\r\rdata: unfinished\n";
    const EVENTS: [&str; 4] = ["{\"x\":\"é✓\"}", "one\ntwo", "", "tail"];

    #[test]
    fn comments_and_line_ends_change_nothing_and_an_open_event_is_not_given_out() {
        assert_eq!(SseParser::default().push(STREAM.as_bytes()), EVENTS);
    }

    proptest! {
        #[test]
        fn the_cuts_between_pieces_change_nothing(cuts in prop::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let mut parser = SseParser::default();
            let mut events = Vec::new();
            for pair in cuts.windows(2) {
                events.extend(parser.push(&STREAM.as_bytes()[pair[0]..pair[1]]));
            }
            prop_assert_eq!(events, EVENTS);
        }
    }
}
