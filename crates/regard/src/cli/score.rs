//! `regard score`: the probability of given translations.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::input::paired_lines;
use super::output::{Output, print_json};
use super::settings::Settings;

/// The log-probability of each target line given its source line: natural logarithm, summed over its tokens and the
/// end symbol. A blank line that stays blank has no tokens: the model is not asked.
///
/// Example: regard score model --src test.en --tgt test.fr
#[derive(Args)]
pub(super) struct ScoreArgs {
    /// The model's directory
    model: PathBuf,
    /// Source lines
    #[arg(long, value_name = "FILE")]
    src: PathBuf,
    /// Target lines
    #[arg(long, value_name = "FILE")]
    tgt: PathBuf,
    /// Sentences that are scored together; it changes the speed only
    #[arg(long, default_value_t = 32, value_name = "N")]
    batch_size: usize,
    /// One JSON document with the log-probability of every token
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Serialize)]
struct Report {
    lines: Vec<Line>,
    log_prob: f64,
    tokens: usize,
    /// exp(-log_prob / tokens); none where there are no tokens.
    perplexity: Option<f64>,
}

#[derive(Serialize)]
struct Line {
    id: usize,
    log_prob: f64,
    length: usize,
    token_log_probs: Vec<f32>,
}

pub(super) fn run(args: &ScoreArgs) -> Result<()> {
    let translator = args.settings.translator(&args.model)?;
    let (sources, targets) = paired_lines(&args.src, &args.tgt)?;
    let source_lines: Vec<&str> = sources.iter().map(String::as_str).collect();
    let target_lines: Vec<&str> = targets.iter().map(String::as_str).collect();
    let scores = translator.score(&source_lines, &target_lines, args.batch_size, false)?;
    for (line, tokens) in scores.iter().enumerate().filter_map(|(line, score)| Some((line, score.cut_from?)))
    {
        args.settings.say_cut(line + 1, tokens);
    }
    // From 0, since the empty sum of floats is -0.
    let log_prob = scores.iter().fold(0.0, |sum, score| sum + score.log_prob);
    let tokens: usize = scores.iter().map(regard_decode::Score::length).sum();
    let perplexity = (tokens > 0).then(|| (-log_prob / tokens as f64).exp());
    if args.json {
        let line = |(id, score): (usize, regard_decode::Score)| Line {
            id,
            log_prob: score.log_prob,
            length: score.length(),
            token_log_probs: score.token_log_probs,
        };
        let lines = scores.into_iter().enumerate().map(line).collect();
        return print_json(&Report { lines, log_prob, tokens, perplexity });
    }
    let mut output = Output::open(None)?;
    for score in &scores {
        output.line(&format!("{:.6}", score.log_prob))?;
    }
    output.finish()?;
    match perplexity {
        Some(perplexity) => args.settings.say(format_args!(
            "log-probability {log_prob:.4} (natural), {tokens} tokens with end symbols, perplexity {perplexity:.4} a token"
        )),
        None => args.settings.say("there are no lines, and so no perplexity"),
    }
    Ok(())
}
