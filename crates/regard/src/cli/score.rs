//! `regard score`: the probability of given translations.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use regard_decode::{Score, Translator};
use regard_text::special_tokens::{EOS, UNK};
use serde::{Deserialize, Serialize};

use super::input::{all_lines, paired_lines};
use super::output::{Output, print_json};
use super::settings::{Settings, precision};
use super::text_options::TextOptions;

/// The log-probability of each target line given its source line.
///
/// Natural logarithm, summed over its tokens and the end symbol. A blank line that stays blank has no tokens: the model is not asked.
///
/// A line may be cut into tokens in several ways, and the model is asked for one of them; --translations asks for the
/// tokens that a search has found.
///
/// Example: regard score model --src test.en --tgt test.fr
#[derive(Args)]
pub(super) struct ScoreArgs {
    /// The model's directory
    model: PathBuf,
    /// Source lines
    #[arg(long, value_name = "FILE", requires = "tgt")]
    src: Option<PathBuf>,
    /// Target lines
    #[arg(long, value_name = "FILE", requires = "src")]
    tgt: Option<PathBuf>,
    /// Score what `translate --format jsonl` wrote instead, by its tokens
    #[arg(long, value_name = "FILE", conflicts_with_all = ["src", "tgt"], required_unless_present = "src")]
    translations: Option<PathBuf>,
    /// Sentences that are scored together; it changes the speed only
    #[arg(long, default_value_t = 32, value_name = "N")]
    batch_size: usize,
    /// Products with weights in 8 bits: the scores of `translate --int8`
    #[arg(long)]
    int8: bool,
    /// One JSON document with the log-probability of every token
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextOptions,
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
    /// Words of the target lines, cut at white space, and one end a line.
    words: usize,
    /// exp(-log_prob / words): the same for every way of cutting words into tokens.
    word_perplexity: Option<f64>,
}

#[derive(Serialize)]
struct Line {
    id: usize,
    log_prob: f64,
    length: usize,
    token_log_probs: Vec<f32>,
}

/// What is to be scored, one entry a target.
#[derive(Default)]
struct Targets {
    ids: Vec<usize>,
    sources: Vec<String>,
    texts: Vec<String>,
    /// The tokens, where they are given.
    rows: Option<Vec<Vec<u32>>>,
}

/// The part of a line of `translate --format jsonl` that is needed here.
#[derive(Deserialize)]
struct Record {
    id: usize,
    source: String,
    translations: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    text: String,
    tokens: Vec<String>,
    length: usize,
}

pub(super) fn run(args: &ScoreArgs) -> Result<()> {
    let translator = args.settings.translator(&args.model, &args.text, precision(args.int8))?;
    let targets = match (&args.src, &args.tgt, &args.translations) {
        (Some(source), Some(target), _) => {
            let (sources, texts) = paired_lines(source, target)?;
            Targets { ids: (0..texts.len()).collect(), sources, texts, rows: None }
        }
        (_, _, Some(file)) => read_translations(file, &translator)?,
        _ => Targets::default(),
    };
    let scores = score(&translator, &targets, args.batch_size)?;
    for (&line, tokens) in
        targets.ids.iter().zip(&scores).filter_map(|(id, score)| Some((id, score.cut_from?)))
    {
        args.settings.say_cut(line + 1, tokens);
    }
    let report = Report::new(&targets, scores);
    if args.json {
        return print_json(&report);
    }
    let mut output = Output::open(None)?;
    for line in &report.lines {
        output.line(&format!("{:.6}", line.log_prob))?;
    }
    output.finish()?;
    match (report.perplexity, report.word_perplexity) {
        (Some(perplexity), Some(word_perplexity)) => args.settings.say(format_args!(
            "log-probability {:.4} (natural), {} tokens with end symbols, perplexity {perplexity:.4} a token and \
             {word_perplexity:.4} a word",
            report.log_prob, report.tokens
        )),
        _ => args.settings.say("there are no tokens, and so no perplexity"),
    }
    Ok(())
}

fn score(translator: &Translator, targets: &Targets, batch_size: usize) -> Result<Vec<Score>> {
    let sources: Vec<&str> = targets.sources.iter().map(String::as_str).collect();
    if let Some(rows) = &targets.rows {
        return Ok(translator.score_rows(&sources, rows, batch_size, None)?);
    }
    let texts: Vec<&str> = targets.texts.iter().map(String::as_str).collect();
    Ok(translator.score(&sources, &texts, batch_size, None)?)
}

fn read_translations(file: &PathBuf, translator: &Translator) -> Result<Targets> {
    let mut targets = Targets::default();
    let mut rows = Vec::new();
    for (index, line) in all_lines(file)?.iter().enumerate() {
        let record: Record = serde_json::from_str(line).with_context(|| {
            format!("{}:{}: is no line of `translate --format jsonl`", file.display(), index + 1)
        })?;
        for entry in record.translations {
            let id = |token: &String| translator.target().vocabulary.id(token).unwrap_or(UNK);
            let mut row: Vec<u32> = entry.tokens.iter().map(id).collect();
            if entry.length > row.len() {
                row.push(EOS);
            }
            rows.push(row);
            targets.ids.push(record.id);
            targets.sources.push(record.source.clone());
            targets.texts.push(entry.text);
        }
    }
    Ok(Targets { rows: Some(rows), ..targets })
}

impl Report {
    fn new(targets: &Targets, scores: Vec<Score>) -> Self {
        // From 0, since the empty sum of floats is -0.
        let log_prob = scores.iter().fold(0.0, |sum, score| sum + score.log_prob);
        let tokens: usize = scores.iter().map(Score::length).sum();
        let words: usize = targets.texts.iter().map(|text| 1 + text.split_whitespace().count()).sum();
        let perplexity = |count: usize| (tokens > 0).then(|| (-log_prob / count as f64).exp());
        let line = |(&id, score): (&usize, Score)| Line {
            id,
            log_prob: score.log_prob,
            length: score.length(),
            token_log_probs: score.token_log_probs,
        };
        Self {
            lines: targets.ids.iter().zip(scores).map(line).collect(),
            log_prob,
            tokens,
            perplexity: perplexity(tokens),
            words,
            word_perplexity: perplexity(words),
        }
    }
}
