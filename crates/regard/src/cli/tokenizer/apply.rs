//! `regard tokenizer encode` and `decode`.

use std::panic::resume_unwind;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use regard_text::{Bpe, ScoredSegmentation, SentencePiece, SentencePieceToken, Tokenizer};
use serde::Serialize;

use super::super::failure::WrongCall;
use super::super::input::Windows;
use super::super::output::{Output, check_apart};
use super::super::pipelines::hugging_face;
use super::super::settings::Settings;

/// Lines that a thread takes at a time.
const BLOCK: usize = 4096;
/// Fewer lines are converted on one thread.
const SMALL: usize = 64;

/// Which tokenizer is applied.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Merges of byte-pair encoding
    #[arg(long, value_name = "FILE")]
    codes: Option<PathBuf>,
    /// A SentencePiece model, or a tokenizer.json of Hugging Face
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

#[derive(Args)]
struct Files {
    /// Read lines from here [default: standard input]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write lines here [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Args)]
pub(super) struct EncodeArgs {
    #[command(flatten)]
    which: Which,
    /// The model's ids in place of its pieces
    #[arg(long, conflicts_with = "codes")]
    ids: bool,
    /// The N best segmentations, a line each: number of the line ||| pieces ||| score
    #[arg(long, value_name = "N", conflicts_with = "codes", value_parser = clap::value_parser!(u16).range(1..=1024))]
    nbest: Option<u16>,
    #[command(flatten)]
    bpe: BpeOptions,
    /// A JSON object a line: tokens, the bytes of the line that each stands for, and its word
    #[arg(long, conflicts_with_all = ["ids", "nbest", "dropout"])]
    json: bool,
    #[command(flatten)]
    files: Files,
}

/// How merges are applied.
#[derive(Args)]
struct BpeOptions {
    /// codes: undo merges until a piece is in this file of pieces and counts
    #[arg(long, value_name = "FILE", requires = "codes")]
    vocabulary: Option<PathBuf>,
    /// codes: pieces that are seen less often are not in the vocabulary
    #[arg(long, value_name = "N", default_value_t = 1, requires = "vocabulary")]
    vocabulary_threshold: u64,
    /// codes: a regular expression of what is never cut; may be repeated
    #[arg(long, value_name = "PATTERN", requires = "codes")]
    glossary: Vec<String>,
    /// codes: leave each merge out with this probability (BPE-dropout)
    #[arg(long, value_name = "P", requires = "codes")]
    dropout: Option<f64>,
    /// With --dropout: decides which
    #[arg(long, value_name = "N", default_value_t = 1, requires = "dropout")]
    seed: u64,
}

/// A line of `--json`.
#[derive(Serialize)]
struct Record {
    tokens: Vec<String>,
    ranges: Vec<[usize; 2]>,
    words: Vec<Option<usize>>,
}

#[derive(Args)]
pub(super) struct DecodeArgs {
    #[command(flatten)]
    which: Which,
    /// The lines hold the model's ids
    #[arg(long, conflicts_with = "codes")]
    ids: bool,
    #[command(flatten)]
    files: Files,
}

pub(super) fn encode(args: &EncodeArgs) -> Result<()> {
    let tokenizer = with_options(tokenizer(&args.which)?, &args.bpe)?;
    let own = args.ids || args.nbest.is_some();
    check_sentencepiece(&tokenizer, own, "--ids and --nbest")?;
    if args.json {
        return apply(&args.files, &tokenizer, |tokenizer, _, line| Ok(vec![json(tokenizer, line)?]));
    }
    let shown = |tokens: &[SentencePieceToken]| {
        let shown =
            |token: &SentencePieceToken| if args.ids { token.id.to_string() } else { token.piece.clone() };
        tokens.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    apply(&args.files, &tokenizer, |tokenizer, number, line| {
        Ok(match (tokenizer, args.nbest, args.bpe.dropout) {
            (Tokenizer::SentencePiece(model), Some(count), _) => {
                let numbered = |path: &ScoredSegmentation| {
                    format!("{number} ||| {} ||| {}", shown(&path.tokens), path.score)
                };
                model.nbest(line, usize::from(count))?.iter().map(numbered).collect()
            }
            (Tokenizer::SentencePiece(model), None, _) => vec![shown(&model.segment(line))],
            (Tokenizer::Bpe(bpe), _, Some(dropout)) => {
                let key = args.bpe.seed.wrapping_shl(32).wrapping_add(number as u64);
                vec![bpe.sample(line, dropout, key).join(" ")]
            }
            (Tokenizer::Bpe(bpe), _, None) => vec![bpe.apply(line)],
            (other, _, _) => vec![other.tokenize(line).join(" ")],
        })
    })
}

fn check_sentencepiece(tokenizer: &Tokenizer, wanted: bool, what: &str) -> Result<()> {
    match tokenizer {
        Tokenizer::SentencePiece(_) => Ok(()),
        _ if wanted => Err(WrongCall(format!("{what}: only a SentencePiece model has them")).into()),
        _ => Ok(()),
    }
}

fn json(tokenizer: &Tokenizer, line: &str) -> Result<String> {
    let tokens = tokenizer.tokenize_with_ranges(line);
    Ok(serde_json::to_string(&Record {
        ranges: tokens.iter().map(|token| [token.range.start, token.range.end]).collect(),
        words: tokens.iter().map(|token| token.word).collect(),
        tokens: tokens.into_iter().map(|token| token.text).collect(),
    })?)
}

/// The tokenizer as the options change it.
fn with_options(tokenizer: Tokenizer, options: &BpeOptions) -> Result<Tokenizer> {
    let Tokenizer::Bpe(mut bpe) = tokenizer else { return Ok(tokenizer) };
    if let Some(dropout) = options.dropout.filter(|dropout| !(0.0..=1.0).contains(dropout)) {
        return Err(WrongCall(format!("--dropout {dropout}: it must be from 0 to 1")).into());
    }
    if let Some(path) = &options.vocabulary {
        bpe = bpe.with_vocabulary(Bpe::read_vocabulary(path, options.vocabulary_threshold)?);
    }
    let glossaries = bpe.with_glossaries(options.glossary.clone());
    Ok(Tokenizer::Bpe(glossaries.map_err(|error| WrongCall(error.to_string()))?))
}

pub(super) fn decode(args: &DecodeArgs) -> Result<()> {
    let tokenizer = tokenizer(&args.which)?;
    check_sentencepiece(&tokenizer, args.ids, "--ids")?;
    apply(&args.files, &tokenizer, |tokenizer, number, line| {
        let tokens: Vec<&str> = line.split(' ').filter(|token| !token.is_empty()).collect();
        let text = match tokenizer {
            Tokenizer::SentencePiece(model) if args.ids => model.decode(&ids(model, number, &tokens)?),
            tokenizer => tokenizer.detokenize(&tokens),
        };
        Ok(vec![text])
    })
}

/// Numbers that the model has.
fn ids(model: &SentencePiece, line: usize, tokens: &[&str]) -> Result<Vec<u32>> {
    let id = |token: &&str| match token.parse::<u32>() {
        Ok(id) if model.piece(id).is_some() => Ok(id),
        _ => {
            bail!("line {}: `{token}` is no id of the model: ids go from 0 to {}", line + 1, model.len() - 1)
        }
    };
    tokens.iter().map(id).collect()
}

fn tokenizer(which: &Which) -> Result<Tokenizer> {
    match (&which.codes, &which.model) {
        (Some(codes), _) => Ok(Tokenizer::Bpe(Bpe::read(codes)?)),
        (None, Some(model)) if model.extension().is_some_and(|end| end == "json") => hugging_face(model),
        (None, Some(model)) => Ok(Tokenizer::SentencePiece(SentencePiece::read(model)?)),
        (None, None) => Err(WrongCall("give --codes or --model".to_owned()).into()),
    }
}

/// Turns each line, given with its number from 0, into lines: on all threads, each with a tokenizer of its own, which
/// remembers words.
fn apply(
    files: &Files,
    tokenizer: &Tokenizer,
    convert: impl Fn(&Tokenizer, usize, &str) -> Result<Vec<String>> + Sync,
) -> Result<()> {
    check_apart(files.input.as_ref(), files.output.as_ref())?;
    let tokenizers = vec![tokenizer.clone(); files.settings.threads()?.count()];
    let mut input = Windows::open(files.input.as_ref())?;
    let mut output = Output::open(files.output.as_ref())?;
    let mut done = 0;
    loop {
        let lines = input.next(tokenizers.len() * BLOCK)?;
        if lines.is_empty() {
            return output.finish();
        }
        // A few lines are not worth a thread.
        let parts = if lines.len() < SMALL { 1 } else { tokenizers.len() };
        let parts: Vec<&[String]> = lines.chunks(lines.len().div_ceil(parts)).collect();
        let starts =
            parts.iter().scan(done, |start, part| Some(std::mem::replace(start, *start + part.len())));
        let work: Vec<_> = tokenizers.iter().zip(&parts).zip(starts).collect();
        let convert_part = |&((tokenizer, part), start): &((&Tokenizer, &&[String]), usize)| {
            let numbered = part.iter().zip(start..);
            numbered.map(|(line, number)| convert(tokenizer, number, line)).collect::<Result<Vec<_>>>()
        };
        for converted in on_threads(&work, convert_part) {
            for line in converted?.iter().flatten() {
                output.line(line)?;
            }
        }
        // Who waits for an answer gets it: at a terminal, behind a pipe.
        output.flush()?;
        done += lines.len();
    }
}

/// One result an item, each computed on a thread of its own.
fn on_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if let [item] = items {
        return vec![work(item)];
    }
    std::thread::scope(|scope| {
        let running: Vec<_> = items.iter().map(|item| scope.spawn(|| work(item))).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
