//! `regard tokenizer train`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use regard_text::{
    Bpe, SentencePiece, SentencePieceAlgorithm, SentencePieceConfig, SentencePieceNormalization,
};

use super::super::failure::WrongCall;
use super::super::input::all_lines;
use super::super::progress_bar::ProgressBar;
use super::super::settings::Settings;

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
    /// sentencepiece: pieces of the model
    #[arg(long, default_value_t = 8000, value_name = "N")]
    vocabulary_size: usize,
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
    let learned = match args.kind {
        Kind::Bpe if args.bpe.dict_input => from_dictionary(args)?,
        Kind::Bpe => {
            check_vocabularies(args)?;
            from_text(args)?
        }
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
    bpe.write(&args.output)?;
    for (text, path) in texts.iter().zip(&args.bpe.write_vocabulary) {
        Bpe::write_vocabulary(path, &bpe.count_pieces(text))?;
    }
    Ok(format!("{} merges of {} lines", bpe.merges().len(), lines.len()))
}

fn from_dictionary(args: &TrainArgs) -> Result<String> {
    let mut counts = std::collections::BTreeMap::new();
    for path in &args.text {
        for (word, count) in Bpe::read_word_counts(path)? {
            *counts.entry(word).or_default() += count;
        }
    }
    let words = counts.len();
    let bpe = learn(args, counts);
    bpe.write(&args.output)?;
    Ok(format!("{} merges of {words} words", bpe.merges().len()))
}

fn learn(args: &TrainArgs, counts: std::collections::BTreeMap<String, u64>) -> Bpe {
    let bar = ProgressBar::new("learning merges", args.settings.quiet);
    let report = &mut |merges| bar.set(merges, args.bpe.merges);
    Bpe::learn_from_counts(counts, args.bpe.merges, args.bpe.min_frequency, report)
}

fn check_vocabularies(args: &TrainArgs) -> Result<()> {
    let (texts, vocabularies) = (args.text.len(), args.bpe.write_vocabulary.len());
    if vocabularies != 0 && vocabularies != texts {
        let message =
            format!("--write-vocabulary: {vocabularies} files for {texts} text files; give one for each");
        return Err(WrongCall(message).into());
    }
    Ok(())
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
        vocabulary_size: options.vocabulary_size,
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
    model.write(&args.output)?;
    Ok(format!("{} pieces of {} lines", model.len(), lines.len()))
}
