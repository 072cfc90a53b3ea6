//! `regard evaluate`: BLEU, as everyone computes it.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use regard_eval::{BleuOptions, BleuTokenizer, LengthBucket, LengthBuckets, bleu_by_length};
use serde::Serialize;

use super::failure::WrongCall;
use super::input::all_lines;
use super::output::{Output, print_json};
use super::settings::Settings;

/// BLEU of one or several files of translations against references, with a signature.
///
/// Example: regard evaluate output.fr --ref test.fr --src test.en --by-length
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct EvaluateArgs {
    /// Translations, one file a system
    #[arg(required = true)]
    hypotheses: Vec<PathBuf>,
    /// References; several files are several references
    #[arg(long = "ref", required = true, value_name = "FILE")]
    references: Vec<PathBuf>,
    /// Source lines, for --by-length
    #[arg(long, value_name = "FILE")]
    src: Option<PathBuf>,
    /// Metrics, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bleu")]
    metrics: Vec<Metric>,
    /// A score for each line too (with effective order)
    #[arg(long)]
    sentence: bool,
    /// BLEU by the number of words of the source line
    #[arg(long)]
    by_length: bool,
    /// How lines become tokens: as mteval-v13a does, or at spaces
    #[arg(long, value_enum, default_value = "13a")]
    tokenize: Tokenize,
    /// Ignore case
    #[arg(long)]
    lowercase: bool,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Metric {
    Bleu,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Tokenize {
    #[value(name = "13a")]
    ThirteenA,
    None,
}

impl Tokenize {
    pub(super) fn tokenizer(self) -> BleuTokenizer {
        match self {
            Self::ThirteenA => BleuTokenizer::ThirteenA,
            Self::None => BleuTokenizer::None,
        }
    }
}

#[derive(Serialize)]
struct Report {
    system: String,
    name: &'static str,
    score: f64,
    signature: String,
    precisions: [f64; regard_eval::MAX_NGRAM_ORDER],
    brevity_penalty: f64,
    ratio: f64,
    hyp_len: usize,
    ref_len: usize,
    #[serde(skip)]
    verbose: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sentences: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_length: Option<Vec<LengthBucket>>,
}

pub(super) fn run(args: &EvaluateArgs) -> Result<()> {
    if args.by_length && args.src.is_none() {
        return Err(WrongCall("--by-length needs the source lines: --src FILE".to_owned()).into());
    }
    let references = args.references.iter().map(all_lines).collect::<Result<Vec<_>>>()?;
    let sources = args.src.as_ref().map(all_lines).transpose()?;
    for path in &args.hypotheses {
        let lines = all_lines(path)?.len();
        let others = args.references.iter().zip(&references).map(|(path, lines)| (path, lines.len()));
        let source = args.src.iter().zip(&sources).map(|(path, lines)| (path, lines.len()));
        for (other, count) in others.chain(source) {
            if count != lines {
                bail!(
                    "{} has {lines} lines and {} has {count}: they must belong together line by line",
                    path.display(),
                    other.display()
                );
            }
        }
    }
    let reports = args
        .hypotheses
        .iter()
        .map(|path| evaluate(args, path, &references, sources.as_deref()))
        .collect::<Result<Vec<_>>>()?;
    if args.json { print_json(&reports) } else { show(&reports) }
}

fn evaluate(
    args: &EvaluateArgs,
    path: &PathBuf,
    references: &[Vec<String>],
    sources: Option<&[String]>,
) -> Result<Report> {
    let options = BleuOptions {
        tokenizer: args.tokenize.tokenizer(),
        lowercase: args.lowercase,
        ..BleuOptions::default()
    };
    let hypotheses = all_lines(path)?;
    let segments = options.segments(&hypotheses, references).with_context(|| path.display().to_string())?;
    let total = segments.iter().copied().sum();
    let bleu = options.score(&total);
    let by_sentence = BleuOptions { effective_order: true, ..options };
    let by_length = match sources.filter(|_| args.by_length) {
        Some(sources) => {
            Some(bleu_by_length(sources, &hypotheses, references, &LengthBuckets::default(), &options)?)
        }
        None => None,
    };
    Ok(Report {
        system: path.display().to_string(),
        name: "BLEU",
        score: bleu.score,
        signature: options.signature(references.len()),
        verbose: bleu.to_string(),
        precisions: bleu.precisions,
        brevity_penalty: bleu.brevity_penalty,
        ratio: bleu.ratio,
        hyp_len: bleu.hyp_len,
        ref_len: bleu.ref_len,
        sentences: args
            .sentence
            .then(|| segments.iter().map(|segment| by_sentence.score(segment).score).collect()),
        by_length,
    })
}

fn show(reports: &[Report]) -> Result<()> {
    let mut output = Output::open(None)?;
    for report in reports {
        if reports.len() > 1 {
            output.line(&report.system)?;
        }
        output.line(&format!("BLEU|{} = {}", report.signature, report.verbose))?;
        for score in report.sentences.iter().flatten() {
            output.line(&format!("{score:.2}"))?;
        }
        for bucket in report.by_length.iter().flatten() {
            output.line(&bucket_line(bucket))?;
        }
    }
    output.finish()
}

/// A bucket as a line of a table: source words, lines, BLEU.
pub(super) fn bucket_line(bucket: &LengthBucket) -> String {
    let score = bucket.score.map_or("-".to_owned(), |score| format!("{score:.1}"));
    format!("{:>8} words {:>7} lines {score:>7} BLEU", bucket.range(), bucket.lines)
}
