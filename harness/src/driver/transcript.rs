//! What a process wrote, kept up to a limit, and read in lines.

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::context::Limits;

/// The text of one stream.
#[derive(Debug)]
pub(super) struct Transcript {
    bytes: Vec<u8>,
    dropped: usize,
    limit: usize,
}

impl Transcript {
    /// An empty one.
    pub(super) fn new(limits: Limits) -> Self {
        Self { bytes: Vec::new(), dropped: 0, limit: limits.output }
    }

    /// Adds what was written.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(self.limit.saturating_sub(self.bytes.len()));
        self.bytes.extend(&bytes[..kept]);
        self.dropped += bytes.len() - kept;
    }

    /// Reads a stream to its end.
    pub(super) async fn read(
        mut self,
        mut stream: impl AsyncRead + Unpin,
    ) -> std::io::Result<Self> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut buffer).await? {
                0 => return Ok(self),
                count => self.push(&buffer[..count]),
            }
        }
    }

    /// What was kept, without a note.
    pub(super) fn kept(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends another transcript of the same stream.
    pub(super) fn append(&mut self, other: &Self) {
        self.push(&other.bytes);
        self.dropped += other.dropped;
    }

    /// The text; bytes that are not UTF-8 are replaced. A last line says how much is missing.
    pub(super) fn into_text(self) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        if self.dropped > 0 {
            let note = format!("\n[conform: {} more bytes were not kept]\n", self.dropped);
            text.push_str(&note);
        }
        text
    }
}

/// Cuts a stream into lines.
#[derive(Debug)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    /// Where the next line starts in `bytes`.
    start: usize,
    /// How far `bytes` was searched for an end of line.
    searched: usize,
    /// Longest line; of a longer one only the start is kept.
    limit: usize,
}

impl Lines {
    /// Nothing read yet.
    pub(super) fn new(limits: Limits) -> Self {
        Self { bytes: Vec::new(), start: 0, searched: 0, limit: limits.output }
    }

    /// Adds what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend(bytes);
    }

    /// The next whole line, without its end.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
            // Of an endless line the end is dropped, so that it takes no more and more memory.
            self.bytes.truncate(self.start + self.limit);
            self.searched = self.bytes.len();
            return None;
        };
        let end = self.searched + end;
        let line = &self.bytes[self.start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        self.start = end + 1;
        self.searched = self.start;
        Some(line)
    }

    /// What stands after the last line's end.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        let line = self.bytes.split_off(self.start);
        self.searched = self.start;
        Some(line).filter(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(output: usize) -> Limits {
        Limits { output, ..Limits::default() }
    }

    proptest! {
        /// However a text is cut, its lines are the same.
        #[test]
        fn lines_do_not_depend_on_the_cuts(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0_usize..9, 0..40)) {
            let mut lines = Lines::new(limits(1000));
            let mut found = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts {
                let (part, later) = rest.split_at(cut.min(rest.len()));
                lines.push(part);
                found.extend(std::iter::from_fn(|| lines.next()));
                rest = later;
            }
            lines.push(rest);
            found.extend(std::iter::from_fn(|| lines.next()));
            found.extend(lines.rest());
            let expected: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_endless_line_is_bounded_and_the_next_one_is_whole() {
        let mut lines = Lines::new(limits(4));
        for _ in 0..100 {
            lines.push(b"xxxx");
            assert_eq!(lines.next(), None);
            assert!(lines.bytes.len() <= 4);
        }
        lines.push(b"\nab\r\n");
        assert_eq!(lines.next().unwrap(), b"xxxx");
        assert_eq!(lines.next().unwrap(), b"ab");
    }

    #[test]
    fn what_is_not_kept_is_counted() {
        let mut transcript = Transcript::new(limits(3));
        transcript.push(b"ab");
        transcript.push(b"cde");
        transcript.push(b"f");
        assert_eq!(transcript.kept(), b"abc");
        assert_eq!(transcript.into_text(), "abc\n[conform: 3 more bytes were not kept]\n");
    }
}
