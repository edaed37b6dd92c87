//! The progress bar.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a bar is drawn again while no case finishes, so that its clock goes on.
const REDRAW: Duration = Duration::from_millis(500);
/// The bar, its counts and its clock.
const BAR: &str = "{bar:24} {pos}/{len} {elapsed} {wide_msg}";

/// A progress bar on standard error. Nothing is drawn where that is no terminal.
pub(super) fn bar(cases: usize) -> ProgressBar {
    let length = u64::try_from(cases).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    // The template is a constant; were it wrong, the stock bar would do.
    let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.enable_steady_tick(REDRAW);
    bar
}
