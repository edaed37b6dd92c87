//! The report as the run goes on.

use std::fmt::Display;
use std::io::{self, Write};

use indicatif::ProgressBar;

use super::bar::bar;
use super::ending;
use super::options::{ConsoleOptions, Progress};
use crate::record::{CaseRecord, Header, RunFinished};
use crate::render::{AgentNames, Styles, case_block, headline, name, one_line, visible};
use crate::summary::Summary;
use crate::tally::Mark;

/// Cases named again at the end; more would push what matters off the screen.
const NAMED_AGAIN: usize = 30;
/// Columns of a case's mark.
const MARK: usize = 5;
/// Columns of a case's duration.
const DURATION: usize = 7;

/// A console report. It keeps counts and the lines it must repeat, not the cases.
///
/// All calls fail only when the output does.
#[derive(Debug)]
pub struct Console<W: Write> {
    out: W,
    options: ConsoleOptions,
    styles: Styles,
    names: AgentNames,
    name_width: usize,
    selected: usize,
    bar: Option<ProgressBar>,
    summary: Summary,
    notable: Vec<String>,
    /// Whether the last line written is blank, so that no two follow each other.
    blank: bool,
}

impl<W: Write> Console<W> {
    /// A report to `out`.
    pub fn new(options: ConsoleOptions, out: W) -> Self {
        Self {
            out,
            styles: if options.colour { Styles::coloured() } else { Styles::plain() },
            options,
            names: AgentNames::default(),
            name_width: 0,
            selected: 0,
            bar: None,
            summary: Summary::default(),
            notable: Vec::new(),
            blank: true,
        }
    }

    /// Says what is about to run.
    ///
    /// # Errors
    /// The output cannot be written to.
    pub fn started(&mut self, header: &Header) -> io::Result<()> {
        self.names = AgentNames::new(&header.agents);
        self.name_width = self.names.width(&header.agents);
        self.selected = header.cases;
        let agents: Vec<_> = header.agents.iter().map(|agent| self.names.of(agent)).collect();
        let agents = if agents.is_empty() { "none".to_owned() } else { agents.join(", ") };
        let text = format!(
            "conform {}: {}, {} at once; isolation: {}\nagents: {}\n\n",
            header.conform,
            counted(header.cases, "case"),
            header.jobs,
            one_line(&header.isolation),
            agents
        );
        self.write(&text)?;
        if self.options.progress == Progress::Bar {
            self.bar = Some(bar(header.cases));
        }
        Ok(())
    }

    /// Adds a finished case, with a line and an explanation where the status level asks for them.
    ///
    /// # Errors
    /// The output cannot be written to.
    pub fn case(&mut self, case: &CaseRecord) -> io::Result<()> {
        self.summary.add(&self.names.of(&case.agent), case);
        let mark = Mark::of(&case.verdict);
        if self.options.status.shows(mark) {
            let text = self.status(mark, case);
            self.write(&text)?;
        }
        if needs_block(mark) {
            let line = self.named_again(mark, case);
            self.notable.push(line);
        }
        if let Some(bar) = &self.bar {
            bar.set_message(self.summary.tally.to_string());
            bar.inc(1);
        }
        Ok(())
    }

    /// Says something about the run itself, such as a record that cannot be written any more,
    /// without disturbing the bar.
    ///
    /// # Errors
    /// The output cannot be written to.
    pub fn note(&mut self, note: &dyn Display) -> io::Result<()> {
        let style = self.styles.caution;
        let text = format!("{style}note{style:#}: {}\n", visible(&note.to_string()));
        self.write(&text)
    }

    /// Ends the report: what to look at, what was left out, what it comes to, and what the gate
    /// says.
    ///
    /// # Errors
    /// The output cannot be written to.
    pub fn finished(&mut self, run: &RunFinished) -> io::Result<()> {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let mut sections = Vec::new();
        if !self.notable.is_empty() && self.summary.tally.total() > 1 {
            sections.push(self.notable_section());
        }
        sections.extend(ending::sections(&self.summary, run, &self.styles));
        sections.push(ending::last_lines(self.selected, run, &self.options, &self.styles));
        let before = if self.blank { "" } else { "\n" };
        let text = format!("{before}{}\n", sections.join("\n\n"));
        self.write(&text)
    }

    /// The output that was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// The line of a case and, for what needs explaining, its block.
    fn status(&self, mark: Mark, case: &CaseRecord) -> String {
        let Styles { faint, .. } = self.styles;
        let count = match self.options.progress {
            Progress::Count => {
                let width = self.selected.to_string().len();
                let done = self.summary.tally.total();
                format!("{faint}[{done:>width$}/{}]{faint:#} ", self.selected)
            }
            Progress::Bar | Progress::Hidden => String::new(),
        };
        let time = case.timing.map_or_else(String::new, |timing| duration(timing.duration_ms));
        let place = format!("{faint}{time:>DURATION$}{faint:#}  {}", self.agent_and_case(case));
        let word = self.word(mark);
        if !needs_block(mark) {
            let remark = match mark {
                Mark::Pass => String::new(),
                _ => format!("  {faint}{}{faint:#}", headline(case)),
            };
            return format!("{count}{word} {place}{remark}\n");
        }
        let block = case_block(case, &self.styles).unwrap_or_default();
        let block: Vec<_> = block.lines().map(|line| format!("{:MARK$} {line}\n", "")).collect();
        format!("{count}{word} {place}\n{}\n", block.concat())
    }

    fn named_again(&self, mark: Mark, case: &CaseRecord) -> String {
        let (word, place) = (self.word(mark), self.agent_and_case(case));
        format!("  {word} {place}\n  {:MARK$} {}", "", headline(case))
    }

    fn word(&self, mark: Mark) -> String {
        let style = self.styles.mark(mark);
        format!("{style}{:MARK$}{style:#}", mark.word().to_uppercase())
    }

    fn agent_and_case(&self, case: &CaseRecord) -> String {
        let (agent, width) = (self.names.of(&case.agent), self.name_width);
        format!("{agent:width$}  {}", name(&case.case))
    }

    fn notable_section(&self) -> String {
        let mut lines = vec![format!("{0}To look at{0:#}", self.styles.strong)];
        lines.extend(self.notable.iter().take(NAMED_AGAIN).cloned());
        if self.notable.len() > NAMED_AGAIN {
            lines.push(format!("  and {} more, in the record", self.notable.len() - NAMED_AGAIN));
        }
        lines.push("  `conform explain CLAUSE` says what a clause asks for".to_owned());
        lines.join("\n")
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.blank = text.ends_with("\n\n");
        let out = &mut self.out;
        let mut write = || out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// Whether a case with this mark is explained, and named again at the end.
fn needs_block(mark: Mark) -> bool {
    matches!(mark, Mark::Fail | Mark::Warn | Mark::Error | Mark::Flaky)
}

/// A duration with two or three figures that count.
pub(super) fn duration(milliseconds: u64) -> String {
    let tenths = milliseconds.saturating_add(50) / 100;
    let (seconds, tenth) = (tenths / 10, tenths % 10);
    if seconds < 60 {
        format!("{seconds}.{tenth}s")
    } else {
        format!("{}m{:02}s", seconds / 60, seconds % 60)
    }
}

/// A count and its noun.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
