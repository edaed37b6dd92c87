//! Server-sent events by the whole of the HTML standard (section 9.2.6), unlike the parser of the
//! faultless streams, which takes only what those must look like.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// The events of a whole stream, and whether it ends between two of them.
pub(crate) fn parse(stream: &[u8]) -> (Vec<Event>, bool) {
    parse_pieces(&[stream])
}

/// The events of a stream that comes in pieces.
pub(crate) fn parse_pieces(pieces: &[&[u8]]) -> (Vec<Event>, bool) {
    let mut parser = Parser::default();
    pieces.concat().into_iter().for_each(|byte| parser.byte(byte));
    let at_rest = parser.line.is_empty() && parser.name.is_empty() && parser.data.is_none();
    (parser.events, at_rest)
}

#[derive(Debug, Default)]
struct Parser {
    line: Vec<u8>,
    after_cr: bool,
    name: String,
    data: Option<String>,
    events: Vec<Event>,
}

impl Parser {
    fn byte(&mut self, byte: u8) {
        let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
        match byte {
            b'\n' if after_cr => {}
            b'\n' | b'\r' => {
                let line = std::mem::take(&mut self.line);
                self.line_ends(&String::from_utf8_lossy(&line));
            }
            other => self.line.push(other),
        }
    }

    fn line_ends(&mut self, line: &str) {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            if let Some(data) = self.data.take() {
                self.events.push(Event { name, data });
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            // A comment, or a field of no meaning here.
            _ => {}
        }
    }
}
