//! What a training run shows: a bar on a terminal, plain lines elsewhere.

use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use regard_train::{Event, EventFile, Observer, Record};

use super::output::tell;

/// Shows a run, and has its clock.
pub(super) struct Progress {
    bar: ProgressBar,
    started: Instant,
    lines: bool,
    events: Option<EventFile>,
    directory: Option<std::path::PathBuf>,
    /// Tokens of the updates since the last report, and when that was.
    window: (u64, f64),
    speed: f64,
}

impl Progress {
    /// Shows a run under a name; with a directory, also for TensorBoard, in `DIR/tensorboard`.
    pub(super) fn new(name: &str, quiet: bool, directory: Option<&Path>) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template(
            "{prefix} {bar:24} {pos}/{len} updates  {msg}  {elapsed_precise} gone, {eta_precise} left",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_prefix(name.to_owned());
        let lines = !quiet && bar.is_hidden();
        Self {
            bar,
            started: Instant::now(),
            lines,
            events: None,
            directory: directory.map(|directory| directory.join("tensorboard")),
            window: (0, 0.0),
            speed: 0.0,
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn report(&mut self, record: &Record) {
        let wall_time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        let failed = self.events.as_mut().map(|events| events.record(wall_time, record));
        if let Some(Err(error)) = failed {
            self.events = None;
            self.say(&format!("TensorBoard's file is given up: {error}"));
        }
        let line = describe(record);
        if record.valid.is_some() || self.lines {
            self.say(&line);
        }
    }

    fn say(&self, line: &str) {
        if self.lines {
            tell(line);
        } else {
            self.bar.println(line);
        }
    }
}

impl Observer for Progress {
    fn seconds(&mut self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Started { step, updates } => {
                self.bar.set_length(*updates);
                self.bar.set_position(*step);
                self.bar.reset_eta();
                let wall_time =
                    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
                let created = self.directory.as_ref().map(|dir| EventFile::create(dir, wall_time, *step));
                self.events = created.and_then(|created| {
                    created
                        .map_err(|error| self.say(&format!("there will be no TensorBoard file: {error}")))
                        .ok()
                });
            }
            Event::Updated(update) => {
                self.window.0 += update.tokens;
                let now = self.started.elapsed().as_secs_f64();
                if now - self.window.1 > 0.5 {
                    self.speed = self.window.0 as f64 / (now - self.window.1);
                    self.window = (0, now);
                }
                self.bar.set_position(update.step);
                self.bar.set_message(format!(
                    "loss {:.3}  gradient {:.2}  {:.0} tokens/s",
                    update.loss, update.gradient_norm, self.speed
                ));
            }
            Event::Reported(record) => self.report(record),
            Event::Saved { .. } => {}
        }
    }
}

/// A record in words.
fn describe(record: &Record) -> String {
    let line = format!(
        "update {:>6}  epoch {:>3}  loss {:.4}  perplexity {:.3}  gradient {:.3}  rate {:.6}  {:.0} tokens/s",
        record.step,
        record.epoch,
        record.loss,
        record.perplexity,
        record.gradient_norm,
        record.learning_rate,
        record.tokens_per_s
    );
    let Some(valid) = &record.valid else { return line };
    let verdict = valid.validation;
    let bleu = verdict.bleu.map(|bleu| format!("  BLEU {bleu:.2}")).unwrap_or_default();
    let gap = verdict.exposure_gap.map(|gap| format!("  exposure gap {gap:.4}")).unwrap_or_default();
    let best = if valid.best { "  (best)" } else { "" };
    format!(
        "{line}  | validation: loss {:.4}  perplexity {:.3}{bleu}{gap}{best}",
        verdict.loss, verdict.perplexity
    )
}
