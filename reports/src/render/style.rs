//! Colours by meaning.

use anstyle::{AnsiColor, Style};

use crate::tally::Mark;

/// The styles of rendered text. Written around text as `{style}text{style:#}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Styles {
    /// A case that passed.
    pub good: Style,
    /// A failure.
    pub bad: Style,
    /// A warning, an error, something flaky.
    pub caution: Style,
    /// What matters in a block.
    pub strong: Style,
    /// What can be passed over.
    pub faint: Style,
    /// A line that was seen and not expected.
    pub added: Style,
    /// A line that was expected and not seen.
    pub removed: Style,
}

impl Styles {
    /// No styles at all, for text that goes into a file.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Terminal colours.
    pub fn coloured() -> Self {
        Self {
            good: AnsiColor::Green.on_default().bold(),
            bad: AnsiColor::Red.on_default().bold(),
            caution: AnsiColor::Yellow.on_default().bold(),
            strong: Style::new().bold(),
            faint: Style::new().dimmed(),
            added: AnsiColor::Green.on_default(),
            removed: AnsiColor::Red.on_default(),
        }
    }

    /// The style of a mark.
    pub fn mark(&self, mark: Mark) -> Style {
        match mark {
            Mark::Pass => self.good,
            Mark::Fail | Mark::Flaky => self.bad,
            Mark::Warn | Mark::Error => self.caution,
            Mark::Known | Mark::Skip => self.faint,
        }
    }
}
