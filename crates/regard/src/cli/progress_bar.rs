//! Long work with a known end: a bar on a terminal, a line for every tenth elsewhere.

use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressDrawTarget, ProgressStyle};

use super::output::tell;

/// Shows how far a piece of work is, until it is dropped.
pub(super) struct ProgressBar {
    name: &'static str,
    bar: indicatif::ProgressBar,
    /// Whether plain lines are written.
    lines: bool,
    /// Tenths that a line was written for.
    tenths: AtomicUsize,
}

impl ProgressBar {
    pub(super) fn new(name: &'static str, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = indicatif::ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template(
            "{prefix} {bar:24} {pos}/{len}  {elapsed_precise} gone, {eta_precise} left",
        ) {
            bar.set_style(style);
        }
        bar.set_prefix(name);
        let lines = !quiet && bar.is_hidden();
        Self { name, bar, lines, tenths: AtomicUsize::new(0) }
    }

    /// So much of all is done.
    pub(super) fn set(&self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        let tenths = done.saturating_mul(10) / all.max(1);
        if self.lines && tenths > self.tenths.fetch_max(tenths, Ordering::Relaxed) {
            tell(format_args!("{}: {done} of {all}", self.name));
        }
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
