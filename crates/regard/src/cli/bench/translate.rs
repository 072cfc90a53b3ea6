//! `regard bench translate`: lines in, lines out, in memory.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use regard_decode::{Cut, MaxLength, SearchOptions, TranslateOptions, Translator};
use regard_text::is_blank;
use serde::Serialize;

use super::{median, peak_mib};
use crate::cli::failure::WrongCall;
use crate::cli::input::all_lines;
use crate::cli::output::{print, print_json};
use crate::cli::settings::{Settings, precision};
use crate::cli::shortlist::with_shortlist;
use crate::cli::text_options::TextOptions;

/// Lines of the run before the first that is measured.
const WARM_UP: usize = 32;
/// Runs over all lines.
const RUNS: usize = 3;
/// Lines that are translated one by one.
const SINGLE: usize = 30;

/// The translation of a text's lines: target tokens a second of the best hypotheses, end symbols left out (the
/// median of 3 runs), and milliseconds of one sentence alone (the median of the first 30).
///
/// Example: regard bench translate model lines.en --beam-size 4 --force-length 20
#[derive(Args)]
pub(super) struct TranslateBench {
    /// The model's directory
    model: PathBuf,
    /// Source lines; blank ones are left out
    text: PathBuf,
    /// Hypotheses kept at each step
    #[arg(long, default_value_t = 4, value_name = "N")]
    beam_size: usize,
    /// Sentences that are searched together
    #[arg(long, default_value_t = 32, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    batch_size: u16,
    /// Lines of the text that are translated
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    lines: u32,
    /// Every translation gets so many tokens and no end symbol: for models that were not trained
    #[arg(long, value_name = "N")]
    force_length: Option<usize>,
    /// Products with weights in 8 bits
    #[arg(long)]
    int8: bool,
    /// Write only what this file of `regard shortlist` lists for the words of each line
    #[arg(long, value_name = "FILE")]
    shortlist: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text_options: TextOptions,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Serialize)]
struct Report {
    target_tokens_per_s: f64,
    sentence_ms: f64,
    peak_mib: f64,
    threads: usize,
}

pub(super) fn run(args: &TranslateBench) -> Result<()> {
    let options = TranslateOptions {
        search: search_options(args),
        batch_size: args.batch_size.into(),
        ..TranslateOptions::default()
    };
    let translator = args.settings.translator(&args.model, &args.text_options, precision(args.int8))?;
    let translator = with_shortlist(translator, args.shortlist.as_deref())?;
    let lines = all_lines(&args.text)?;
    let lines = lines.iter().map(String::as_str).filter(|line| !is_blank(line));
    let lines: Vec<&str> = lines.take(args.lines as usize).collect();
    if lines.is_empty() {
        return Err(WrongCall(format!("{} has no line with a text", args.text.display())).into());
    }
    let threads = args.settings.threads()?.count();
    let work = Work { translator, options };
    work.tokens(&lines[..lines.len().min(WARM_UP)])?;
    let rates = (0..RUNS).map(|_| work.rate(&lines)).collect::<Result<_>>()?;
    let single = lines.chunks(1).take(SINGLE);
    let times = single.map(|line| Ok(work.seconds(line)?.1 * 1e3)).collect::<Result<_>>()?;
    report(
        args,
        &Report {
            target_tokens_per_s: median(rates),
            sentence_ms: median(times),
            peak_mib: peak_mib(),
            threads,
        },
    )
}

fn report(args: &TranslateBench, report: &Report) -> Result<()> {
    if args.json {
        return print_json(report);
    }
    let Report { target_tokens_per_s, sentence_ms, peak_mib, threads } = report;
    let (beam, batch) = (args.beam_size, args.batch_size);
    print(&format!(
        "{}, beam {beam}, batches of {batch}, {threads} threads: {target_tokens_per_s:.0} target tokens/s, \
         one sentence {sentence_ms:.1} ms, peak {peak_mib:.0} MiB",
        if args.int8 { "int8" } else { "f32" }
    ))
}

fn search_options(args: &TranslateBench) -> SearchOptions {
    let plain = SearchOptions { beam_size: args.beam_size, cut: Cut::Competes, ..SearchOptions::default() };
    match args.force_length {
        // The end symbol counts in both limits.
        Some(tokens) => SearchOptions {
            min_length: tokens.saturating_add(1),
            max_length: MaxLength::Fixed(tokens),
            ..plain
        },
        None => plain,
    }
}

/// What is measured.
struct Work {
    translator: Translator,
    options: TranslateOptions,
}

impl Work {
    /// Translates lines; returns the tokens of the best translations.
    fn tokens(&self, lines: &[&str]) -> Result<usize> {
        let found = self.translator.translate(lines, &self.options)?;
        let best = found.iter().filter_map(|translation| translation.candidates.first());
        Ok(best.map(|candidate| candidate.hypothesis.tokens.len()).sum())
    }

    /// The tokens and how long they took.
    fn seconds(&self, lines: &[&str]) -> Result<(usize, f64)> {
        let start = Instant::now();
        Ok((self.tokens(lines)?, start.elapsed().as_secs_f64()))
    }

    fn rate(&self, lines: &[&str]) -> Result<f64> {
        let (tokens, seconds) = self.seconds(lines)?;
        Ok(tokens as f64 / seconds)
    }
}
