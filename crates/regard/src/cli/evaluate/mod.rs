//! `regard evaluate`: BLEU, chrF, TER and error rates, as everyone computes them.

mod metrics;
mod report;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use regard_eval::{BleuOptions, PairedTest, Resampling, WordFrequencies, word_lengths};

use super::failure::WrongCall;
use super::input::all_lines;
use super::output::print_json;
use super::settings::Settings;
use metrics::MetricArgs;
use report::Texts;

pub(super) use table::bucket_line;

/// BLEU, chrF, TER, WER, CER and exact match of files of translations, each with a signature.
///
/// Scores, intervals and p-values are those of sacreBLEU 2.6.0. Of several systems the first is the baseline.
///
/// Example: regard evaluate base.fr new.fr --ref test.fr --metrics bleu,chrf,ter --paired bootstrap
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
    #[command(flatten)]
    metrics: MetricArgs,
    /// A score for each line too (BLEU with effective order)
    #[arg(long)]
    sentence: bool,
    /// Scores by the number of words of the source line
    #[arg(long)]
    by_length: bool,
    /// Scores by the number of words of the (first) reference
    #[arg(long)]
    by_target_length: bool,
    /// Word F1 by how often a word of the (first) reference stands in this training text
    #[arg(long, value_name = "TRAIN_TEXT")]
    by_frequency: Option<PathBuf>,
    /// Test each system against the first: 1,000 bootstrap samples, or 10,000 trials of approximate randomisation
    #[arg(long, value_enum)]
    paired: Option<Paired>,
    /// A 95 % interval for every score, from 1,000 bootstrap samples
    #[arg(long)]
    confidence: bool,
    /// Seed of samples and trials, as numpy takes it
    #[arg(long, default_value_t = Resampling::BOOTSTRAP.seed, value_name = "N")]
    seed: u64,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

/// The tests under their names on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Paired {
    Bootstrap,
    Ar,
}

impl Paired {
    fn test(self) -> PairedTest {
        match self {
            Self::Bootstrap => PairedTest::Bootstrap,
            Self::Ar => PairedTest::ApproximateRandomization,
        }
    }
}

pub(super) fn run(args: &EvaluateArgs) -> Result<()> {
    if args.by_length && args.src.is_none() {
        return Err(WrongCall("--by-length needs the source lines: --src FILE".to_owned()).into());
    }
    if args.paired.is_some() && args.hypotheses.len() < 2 {
        let message = "--paired compares systems: name two files of translations or more, the baseline first";
        return Err(WrongCall(message.to_owned()).into());
    }
    let metrics = args.metrics.build()?;
    let texts = read(args)?;
    let reports = report::reports(args, &metrics, &texts)?;
    if args.json { print_json(&reports) } else { table::show(args, &reports) }
}

/// Reads all files and checks that they belong together.
fn read(args: &EvaluateArgs) -> Result<Texts> {
    let all = |paths: &[PathBuf]| paths.iter().map(all_lines).collect::<Result<Vec<_>>>();
    let (systems, references) = (all(&args.hypotheses)?, all(&args.references)?);
    let sources = args.src.as_ref().map(all_lines).transpose()?;
    for (path, lines) in args.hypotheses.iter().zip(&systems) {
        let others = args.references.iter().zip(&references).chain(args.src.iter().zip(&sources));
        for (other, other_lines) in others {
            check_counts(path, lines.len(), other, other_lines.len())?;
        }
    }
    let words = args.metrics.bleu()?;
    let frequencies = args.by_frequency.as_ref().map(|path| frequencies(path, &words)).transpose()?;
    let target_lengths =
        references.first().filter(|_| args.by_target_length).map(|first| word_lengths(first));
    let source_lengths = sources.filter(|_| args.by_length).map(|sources| word_lengths(&sources));
    Ok(Texts { systems, references, source_lengths, target_lengths, frequencies })
}

/// Refuses two files that do not belong together line by line.
pub(super) fn check_counts(path: &Path, lines: usize, other: &Path, count: usize) -> Result<()> {
    if count != lines {
        bail!(
            "{} has {lines} lines and {} has {count}: they must belong together line by line",
            path.display(),
            other.display()
        );
    }
    Ok(())
}

fn frequencies(path: &PathBuf, words: &BleuOptions) -> Result<WordFrequencies> {
    let text = all_lines(path).with_context(|| format!("{}: the training text", path.display()))?;
    Ok(WordFrequencies::new(&text, words))
}
