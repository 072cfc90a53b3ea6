//! `regard shortlist`: which words a model may write for which words of the source.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use regard_decode::Translator;
use regard_text::{CorpusEncoder, CorpusFilters, CorpusSource, Shortlist, TextError};

use super::output::Output;
use super::settings::{Settings, load};
use super::text_options::TextOptions;

/// A list of the target tokens that each source token may become, for a faster translation.
///
/// With `translate --shortlist` a search asks for these alone. It is learned from parallel text by IBM model 1, five rounds.
///
/// Example: regard shortlist model --src train.en --tgt train.fr -o shortlist.txt
#[derive(Args)]
pub(super) struct ShortlistArgs {
    /// The model's directory, for its tokenizers and vocabularies
    model: PathBuf,
    /// Source lines
    #[arg(long, value_name = "FILE")]
    src: PathBuf,
    /// Target lines, each the translation of the source line of its number
    #[arg(long, value_name = "FILE")]
    tgt: PathBuf,
    /// Write the list here [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most probable target tokens of each source token
    #[arg(long, default_value_t = 50, value_name = "N")]
    best: usize,
    /// The most frequent target tokens, which every sentence may use
    #[arg(long, default_value_t = 100, value_name = "N")]
    frequent: usize,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &ShortlistArgs) -> Result<()> {
    let (info, _) = load(&args.model)?;
    let (mut source, mut target) = (info.source, info.target);
    if args.text.pretokenized {
        (source, target) = (source.pretokenized(), target.pretokenized());
    }
    let corpus = CorpusSource::Files { source_path: args.src.clone(), target_path: args.tgt.clone() };
    let threads = args.settings.threads()?.count();
    let mut encoder = CorpusEncoder::new(&source, &target, CorpusFilters::default(), threads);
    let mut pairs = Vec::new();
    let report = encoder.encode(corpus.open()?, &args.text.tags, |pair, _line| {
        pairs.push(pair);
        Ok::<_, TextError>(())
    })?;
    report.check(&corpus.name())?;
    let shortlist =
        Shortlist::learn(&pairs, &source.vocabulary, &target.vocabulary, args.best, args.frequent);
    let mut output = Output::open(args.output.as_ref())?;
    output.text(&shortlist.to_text())?;
    output.finish()?;
    let words: usize = pairs.iter().map(|pair| shortlist.words(&pair.source).len()).sum();
    args.settings.say(format_args!(
        "{} pairs; a sentence may use {:.0} of {} target tokens on average",
        pairs.len(),
        words as f64 / pairs.len() as f64,
        target.vocabulary.len()
    ));
    Ok(())
}

/// The translator with the shortlist of a file, where there is one.
pub(super) fn with_shortlist(translator: Translator, path: Option<&Path>) -> Result<Translator> {
    let Some(path) = path else { return Ok(translator) };
    let (source, target) = (&translator.source().vocabulary, &translator.target().vocabulary);
    let shortlist = Shortlist::read(path, source, target)?;
    Ok(translator.with_shortlist(Arc::new(shortlist)))
}
