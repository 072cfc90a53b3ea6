//! `regard audit`: is a model's attention load-bearing?

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use clap::Args;
use regard_look::{Audit, AuditOptions, Auditee, Measure, Rival, Watch, audit};

use super::audit_rivals::{Audited, rivals};
use super::failure::WrongCall;
use super::input::paired_lines;
use super::output::{Output, print, print_json, write};
use super::progress_bar::ProgressBar;
use super::settings::Settings;
use super::text_options::TextOptions;
use super::training_run::stop_by_signal;

/// Is a model's attention load-bearing?
///
/// Agreement of the attention with other measures of importance, what changes of it change,
/// and BLEU without each head, on given sentence pairs. The result is also left in the model's directory, as audit.json, for `regard
/// serve`.
///
/// Example: regard audit model --src test.en --tgt test.fr --html audit.html
#[derive(Args)]
pub(super) struct AuditArgs {
    /// The model's directory
    model: PathBuf,
    /// Source lines
    #[arg(long, value_name = "FILE")]
    src: PathBuf,
    /// Target lines: what the model is forced to write
    #[arg(long, value_name = "FILE")]
    tgt: PathBuf,
    /// Most sentence pairs
    #[arg(long, value_name = "N", default_value_t = 200)]
    sentences: usize,
    /// The published settings: every step, 500 updates of each adversarial search, integrated and smooth gradients. Hours.
    #[arg(long)]
    full: bool,
    /// Train an adversary, a model with frozen uniform attention and another seed by the model's own recipe, three trainings, and hold
    /// them against the model. They stay in MODEL/adversary and are used again
    #[arg(long)]
    adversary: bool,
    /// Of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write a page with the table, the verdict and pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write what every value was computed from
    #[arg(long, value_name = "FILE")]
    steps_json: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &AuditArgs) -> Result<()> {
    if args.sentences == 0 {
        return Err(WrongCall("--sentences 0: there is nothing to audit".to_owned()).into());
    }
    let (sources, targets) = paired_lines(&args.src, &args.tgt)?;
    let lines: Vec<(String, String)> = sources.into_iter().zip(targets).collect();
    // A path that cannot be written to is told before the work.
    let [html, steps_json] = [args.html.as_ref(), args.steps_json.as_ref()].map(open);
    let (html, steps_json) = (html?, steps_json?);
    let (config, model, translator) = args.settings.explainer(&args.model, &args.text)?;
    let stop = if args.adversary { stop_by_signal()? } else { Arc::new(AtomicBool::new(false)) };
    let trained = if args.adversary {
        let (network, translator) = (model.as_ref(), &translator);
        let audited = Audited { path: &args.model, config: &config, network, translator };
        rivals(&audited, &args.settings, &stop)?
    } else {
        Vec::new()
    };
    let rivals: Vec<Rival> =
        trained.iter().map(|(kind, model)| Rival { kind: *kind, model: model.as_ref() }).collect();
    let options = if args.full { AuditOptions::full(&config) } else { AuditOptions::quick(&config) };
    let options = AuditOptions { sentences: args.sentences, seed: args.seed, ..options };
    let name = args.model.display().to_string();
    let (model, translator) = (model.as_ref(), &translator);
    let auditee = Auditee { name: &name, model, config: &config, translator, rivals: &rivals };
    let threads = args.settings.threads()?;
    let bar = ProgressBar::new("audit", args.settings.quiet);
    let stopped = || stop.load(Ordering::Relaxed);
    let watch = Watch { progress: &|done, all| bar.set(done, all), stop: &stopped };
    let found = audit(&auditee, &threads, &lines, &options, &watch)?;
    drop(bar);
    finish(html, &found.report().html())?;
    finish(steps_json, &serde_json::to_string(&found.records)?)?;
    // The page shows the last audit of a model; a model that cannot be written to is audited all the same.
    let stored = args.model.join("audit.json");
    if let Err(error) = write(&stored, &serde_json::to_vec_pretty(&found)?) {
        args.settings.say(format_args!("{error:#}: the server will not show this audit"));
    }
    if args.json {
        return print_json(&found);
    }
    print(&table(&found))
}

fn open(path: Option<&PathBuf>) -> Result<Option<Output>> {
    path.map(|path| Output::open(Some(path))).transpose()
}

fn finish(output: Option<Output>, text: &str) -> Result<()> {
    let Some(mut output) = output else { return Ok(()) };
    output.text(text)?;
    output.finish()
}

fn table(found: &Audit) -> String {
    let line = |measure: &Measure| {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        let interval = match (measure.low, measure.high) {
            (Some(low), Some(high)) => format!("[{low:.3}, {high:.3}]"),
            _ => "-".to_owned(),
        };
        format!(
            "{:24} {:22} {:>8} {interval:18} {:>8}\n",
            measure.name,
            measure.site,
            number(measure.value),
            number(measure.baseline)
        )
    };
    let options = &found.settings.options;
    let mut text = format!(
        "{} sentences, {} steps; {} shuffles a step; adversary: {} steps, {} updates at a rate of {}\n\n",
        found.sentences,
        found.steps,
        options.permutations,
        options.adversary_steps.min(found.steps),
        options.adversary_updates,
        options.adversary_rate
    );
    let _ = writeln!(
        text,
        "{:24} {:22} {:>8} {:18} {:>8}",
        "measure", "of", "value", "95 % interval", "baseline"
    );
    text.extend(found.tests.iter().map(line));
    text.push('\n');
    text.push_str(&found.verdict);
    text
}
