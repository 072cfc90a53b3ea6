//! `regard tokenizer encode` and `decode`.

use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use regard_text::{Bpe, SentencePiece, SentencePieceToken, Tokenizer};
use serde::Serialize;

use super::super::failure::WrongCall;
use super::super::input::Windows;
use super::super::output::{Output, check_apart};
use super::super::pipelines::hugging_face;
use super::super::settings::Settings;

/// Lines that a thread takes at a time.
const BLOCK: usize = 4096;
/// Less text than this, in bytes, is converted on one thread.
const SMALL: usize = 4096;

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
        return apply(&args.files, &tokenizer, |tokenizer, _, line, text| {
            text.push_str(&json(tokenizer, line)?);
            text.push('\n');
            Ok(())
        });
    }
    let shown = |tokens: &[SentencePieceToken]| {
        let shown =
            |token: &SentencePieceToken| if args.ids { token.id.to_string() } else { token.piece.clone() };
        tokens.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    apply(&args.files, &tokenizer, |tokenizer, number, line, text| {
        match (tokenizer, args.nbest, args.bpe.dropout) {
            (Tokenizer::SentencePiece(model), Some(count), _) => {
                for path in model.nbest(line, usize::from(count))? {
                    writeln!(text, "{number} ||| {} ||| {}", shown(&path.tokens), path.score)?;
                }
                return Ok(());
            }
            (Tokenizer::SentencePiece(model), None, _) => text.push_str(&shown(&model.segment(line))),
            (Tokenizer::Bpe(bpe), _, Some(dropout)) => {
                let key = args.bpe.seed.wrapping_shl(32).wrapping_add(number as u64);
                text.push_str(&bpe.sample(line, dropout, key).join(" "));
            }
            (Tokenizer::Bpe(bpe), _, None) => bpe.apply_into(line, text),
            (other, _, _) => text.push_str(&other.tokenize(line).join(" ")),
        }
        text.push('\n');
        Ok(())
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
    apply(&args.files, &tokenizer, |tokenizer, number, line, text| {
        let tokens: Vec<&str> = line.split(' ').filter(|token| !token.is_empty()).collect();
        text.push_str(&match tokenizer {
            Tokenizer::SentencePiece(model) if args.ids => model.decode(&ids(model, number, &tokens)?),
            tokenizer => tokenizer.detokenize(&tokens),
        });
        text.push('\n');
        Ok(())
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

/// Turns each line, given with its number from 0, into lines that are added to a text: on all threads, each with a
/// tokenizer of its own, which remembers words.
fn apply(
    files: &Files,
    tokenizer: &Tokenizer,
    convert: impl Fn(&Tokenizer, usize, &str, &mut String) -> Result<()> + Sync,
) -> Result<()> {
    check_apart(files.input.as_ref(), files.output.as_ref())?;
    let tokenizers = vec![tokenizer.clone(); files.settings.threads()?.count()];
    let mut input = Windows::open(files.input.as_ref())?;
    let mut output = Output::open(files.output.as_ref())?;
    let mut done = 0;
    loop {
        let window = input.next(tokenizers.len() * BLOCK)?;
        if window.lines == 0 {
            return output.finish();
        }
        // A few lines are not worth a thread.
        let count = if window.text.len() < SMALL { 1 } else { tokenizers.len() };
        let work: Vec<_> = tokenizers.iter().zip(parts(&window.text, count, done)).collect();
        let convert_part = |&(tokenizer, (start, part)): &(&Tokenizer, (usize, &str))| {
            let mut text = String::with_capacity(2 * part.len());
            for (number, line) in (start..).zip(part.lines()) {
                convert(tokenizer, number, line, &mut text)?;
            }
            Ok::<_, anyhow::Error>(text)
        };
        for text in on_threads(&work, convert_part) {
            output.text(&text?)?;
        }
        // Who waits for an answer gets it: at a terminal, behind a pipe.
        output.flush()?;
        done += window.lines;
    }
}

/// Lines in at most so many parts of about the same size, each with the number of its first line.
fn parts(text: &str, count: usize, first: usize) -> Vec<(usize, &str)> {
    let (mut parts, mut rest, mut number) = (Vec::new(), text, first);
    for left in (1..=count).rev() {
        let share = rest.len() / left;
        let end = rest.as_bytes().iter().skip(share).position(|&byte| byte == b'\n');
        let (part, after) = rest.split_at(end.map_or(rest.len(), |end| share + end + 1));
        if !part.is_empty() {
            parts.push((number, part));
        }
        number += part.lines().count();
        rest = after;
    }
    parts
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_lines_with_their_numbers() {
        assert_eq!(parts("a\nbb\n\nc", 1, 5), [(5, "a\nbb\n\nc")]);
        assert_eq!(parts("aaaa\nb\n\nc", 2, 5), [(5, "aaaa\n"), (6, "b\n\nc")]);
        assert_eq!(parts("one long line\nb\n", 3, 0), [(0, "one long line\n"), (1, "b\n")]);
        assert_eq!(parts("\n", 4, 2), [(2, "\n")]);
    }
}
