//! `regard tokenizer train`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use regard_text::{
    Bpe, SentencePiece, SentencePieceAlgorithm, SentencePieceConfig, SentencePieceNormalization,
};

use super::super::failure::WrongCall;
use super::super::input::all_lines;
use super::super::output::{is_same_file, write_with};
use super::super::progress_bar::ProgressBar;
use super::super::settings::Settings;

/// The package's default.
const DEFAULT_PIECES: usize = 8000;

#[derive(Args)]
pub(super) struct TrainArgs {
    /// Text files, learned from together
    #[arg(required = true)]
    text: Vec<PathBuf>,
    /// What is learned
    #[arg(long, value_enum, default_value_t = Kind::Bpe)]
    kind: Kind,
    #[command(flatten)]
    bpe: BpeArgs,
    #[command(flatten)]
    sentencepiece: SentencePieceArgs,
    /// Write the merges or the model here
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

/// Options of byte-pair encoding.
#[derive(Args)]
struct BpeArgs {
    /// bpe: merges to learn
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    merges: usize,
    /// bpe: a pair that is seen less often is not merged
    #[arg(long, default_value_t = 2, value_name = "N")]
    min_frequency: u64,
    /// bpe: the files hold lines of a word and its count
    #[arg(long, conflicts_with = "write_vocabulary")]
    dict_input: bool,
    /// bpe: write how often each piece occurs in each text file: one FILE for each, in their order
    #[arg(long, value_name = "FILE")]
    write_vocabulary: Vec<PathBuf>,
}

/// Options of SentencePiece models.
#[derive(Args)]
struct SentencePieceArgs {
    /// sentencepiece: how words are cut
    #[arg(long, value_enum, default_value_t = Algorithm::Unigram)]
    algorithm: Algorithm,
    /// sentencepiece: pieces of the model [default: 8000]
    #[arg(long, value_name = "N")]
    vocabulary_size: Option<usize>,
    /// sentencepiece: the share of all characters that get a piece
    #[arg(long, default_value_t = 0.9995, value_name = "X")]
    character_coverage: f64,
    /// sentencepiece: what has no piece becomes bytes
    #[arg(long)]
    byte_fallback: bool,
    /// sentencepiece: always one piece each; separated by commas
    #[arg(long, value_delimiter = ',', value_name = "SYMBOL,...")]
    user_defined_symbols: Vec<String>,
    /// sentencepiece: what is done to the characters first
    #[arg(long, value_enum, default_value_t = Normalization::NmtNfkc)]
    normalization: Normalization,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Bpe,
    #[value(name = "sentencepiece")]
    SentencePiece,
}

#[derive(Clone, Copy, ValueEnum)]
enum Algorithm {
    Unigram,
    Bpe,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Normalization {
    NmtNfkc,
    Nfkc,
    Identity,
}

pub(super) fn run(args: &TrainArgs) -> Result<()> {
    check(args)?;
    let learned = match args.kind {
        Kind::Bpe if args.bpe.dict_input => from_dictionary(args)?,
        Kind::Bpe => from_text(args)?,
        Kind::SentencePiece => sentencepiece(args)?,
    };
    args.settings.say(format_args!("{learned} are in {}", args.output.display()));
    Ok(())
}

/// The lines of each file; an error where there is none at all.
fn read(args: &TrainArgs) -> Result<Vec<Vec<String>>> {
    let texts = args.text.iter().map(all_lines).collect::<Result<Vec<_>>>()?;
    if texts.iter().all(Vec::is_empty) {
        let files: Vec<String> = args.text.iter().map(|path| path.display().to_string()).collect();
        bail!("{}: no text to learn from", files.join(", "));
    }
    Ok(texts)
}

fn from_text(args: &TrainArgs) -> Result<String> {
    let texts = read(args)?;
    let lines: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let counts = Bpe::count_words(&lines, args.settings.threads()?.count());
    let bpe = learn(args, counts);
    write_with(&args.output, |path| Ok(bpe.write(path)?))?;
    for (text, path) in texts.iter().zip(&args.bpe.write_vocabulary) {
        write_with(path, |path| Ok(Bpe::write_vocabulary(path, &bpe.count_pieces(text))?))?;
    }
    Ok(format!("{} merges of {} lines", bpe.merges().len(), lines.len()))
}

fn from_dictionary(args: &TrainArgs) -> Result<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for path in &args.text {
        for (word, count) in Bpe::read_word_counts(path)? {
            let total = counts.entry(word).or_default();
            *total = total.saturating_add(count);
        }
    }
    let words = counts.len();
    let bpe = learn(args, counts);
    write_with(&args.output, |path| Ok(bpe.write(path)?))?;
    Ok(format!("{} merges of {words} words", bpe.merges().len()))
}

fn learn(args: &TrainArgs, counts: BTreeMap<String, u64>) -> Bpe {
    let bar = ProgressBar::new("learning merges", args.settings.quiet);
    let report = &mut |merges| bar.set(merges, args.bpe.merges);
    Bpe::learn_from_counts(counts, args.bpe.merges, args.bpe.min_frequency, report)
}

/// Refuses options of the other kind, and to write over the text.
fn check(args: &TrainArgs) -> Result<()> {
    let BpeArgs { dict_input, write_vocabulary, .. } = &args.bpe;
    let pieces = &args.sentencepiece;
    let of_pieces =
        pieces.byte_fallback || pieces.vocabulary_size.is_some() || !pieces.user_defined_symbols.is_empty();
    let refused = match args.kind {
        Kind::SentencePiece if *dict_input || !write_vocabulary.is_empty() => {
            Some("--dict-input and --write-vocabulary are for --kind bpe".to_owned())
        }
        Kind::Bpe if of_pieces => Some(
            "--vocabulary-size, --byte-fallback and --user-defined-symbols are for --kind sentencepiece"
                .to_owned(),
        ),
        Kind::Bpe if !write_vocabulary.is_empty() && write_vocabulary.len() != args.text.len() => {
            Some(format!(
                "--write-vocabulary: {} files for {} text files; give one for each",
                write_vocabulary.len(),
                args.text.len()
            ))
        }
        _ => None,
    };
    let written = || write_vocabulary.iter().chain([&args.output]);
    let over = args.text.iter().find(|text| written().any(|path| is_same_file(text, path)));
    let over =
        over.map(|text| format!("{} is a text that is read: name another file to write", text.display()));
    match refused.or(over) {
        Some(message) => Err(WrongCall(message).into()),
        None => Ok(()),
    }
}

fn sentencepiece(args: &TrainArgs) -> Result<String> {
    let options = &args.sentencepiece;
    let coverage = options.character_coverage;
    if !(coverage > 0.0 && coverage <= 1.0) {
        let message = format!("--character-coverage {coverage}: it must be above 0 and at most 1");
        return Err(WrongCall(message).into());
    }
    let config = SentencePieceConfig {
        algorithm: match options.algorithm {
            Algorithm::Unigram => SentencePieceAlgorithm::Unigram,
            Algorithm::Bpe => SentencePieceAlgorithm::Bpe,
        },
        vocabulary_size: options.vocabulary_size.unwrap_or(DEFAULT_PIECES),
        character_coverage: coverage,
        byte_fallback: options.byte_fallback,
        user_defined_symbols: options.user_defined_symbols.clone(),
        normalization: match options.normalization {
            Normalization::NmtNfkc => SentencePieceNormalization::NmtNfkc,
            Normalization::Nfkc => SentencePieceNormalization::Nfkc,
            Normalization::Identity => SentencePieceNormalization::Identity,
        },
    };
    let threads = args.settings.threads()?.count();
    let lines: Vec<String> = read(args)?.into_iter().flatten().collect();
    let mut report = |progress: regard_text::SentencePieceProgress| {
        args.settings.say(format_args!("{} pieces on the way to {}", progress.pieces, progress.goal));
    };
    let model = SentencePiece::train(&lines, &config, threads, &mut report)?;
    write_with(&args.output, |path| Ok(model.write(path)?))?;
    Ok(format!("{} pieces of {} lines", model.len(), lines.len()))
}
