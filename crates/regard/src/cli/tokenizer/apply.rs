//! `regard tokenizer encode` and `decode`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::thread::Scope;

use anyhow::{Result, bail};
use clap::Args;
use regard_text::{Bpe, SentencePiece, SentencePieceToken, Tokenizer};
use serde::Serialize;

use super::super::failure::WrongCall;
use super::super::input::{Window, Windows};
use super::super::output::{Output, check_apart};
use super::super::pipelines::hugging_face;
use super::super::settings::Settings;
use super::workers::Workers;

/// Lines that a thread takes at a time.
const BLOCK: usize = 4096;

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
/// tokenizer of its own, which remembers words. Meanwhile lines are read and others written, in their order.
fn apply(
    files: &Files,
    tokenizer: &Tokenizer,
    convert: impl Fn(&Tokenizer, usize, &str, &mut String) -> Result<()> + Sync,
) -> Result<()> {
    check_apart(files.input.as_ref(), files.output.as_ref())?;
    let threads = files.settings.threads()?.count();
    let mut input = Windows::open(files.input.as_ref())?;
    let mut output = Output::open(files.output.as_ref())?;
    std::thread::scope(|scope| {
        let mut workers = workers(scope, threads, tokenizer, &convert);
        let (mut read, mut converted) = (0, Ok(()));
        let all_read = loop {
            let window = match workers.busy() {
                0 => input.next(BLOCK).map(Some),
                busy if busy < 2 * threads => input.try_next(BLOCK),
                _ => Ok(None),
            };
            match window {
                Ok(Some(Window { lines: 0, .. })) => break Ok(()),
                Ok(Some(Window { text, lines })) => {
                    workers.give((read, text))?;
                    read += lines;
                }
                Err(error) => break Err(error),
                Ok(None) => {
                    let part = workers.take()?;
                    output.text(&part.text)?;
                    converted = part.ended;
                    if converted.is_err() {
                        break Ok(());
                    }
                    // Who waits for an answer gets it: at a terminal, behind a pipe.
                    if workers.busy() == 0 {
                        output.flush()?;
                    }
                }
            }
        };
        // The lines before one that cannot be read or converted come out all the same, and none after it.
        while converted.is_ok() && workers.busy() > 0 {
            let part = workers.take()?;
            output.text(&part.text)?;
            converted = part.ended;
        }
        output.finish()?;
        converted.and(all_read)
    })
}

/// Threads that convert parts of a text, each given with the number of its first line. They take turns, and so the results
/// are in order. When the work ends early, their channels close and they end too.
fn workers<'scope>(
    scope: &'scope Scope<'scope, '_>,
    threads: usize,
    tokenizer: &Tokenizer,
    convert: &'scope (impl Fn(&Tokenizer, usize, &str, &mut String) -> Result<()> + Sync),
) -> Workers<(usize, String), Part> {
    Workers::new((0..threads).map(|_| {
        let (give, given) = sync_channel::<(usize, String)>(1);
        let (done, results) = sync_channel(1);
        let tokenizer = tokenizer.clone();
        scope.spawn(move || {
            for (start, part) in given {
                if done.send(convert_part(&tokenizer, start, &part, convert)).is_err() {
                    return;
                }
            }
        });
        (give, results)
    }))
}

/// What lines have become, as far as they could be converted.
struct Part {
    text: String,
    ended: Result<()>,
}

fn convert_part(
    tokenizer: &Tokenizer,
    start: usize,
    part: &str,
    convert: &impl Fn(&Tokenizer, usize, &str, &mut String) -> Result<()>,
) -> Part {
    let mut text = String::with_capacity(2 * part.len());
    let mut lines = (start..).zip(part.lines());
    let ended = lines.try_for_each(|(number, line)| convert(tokenizer, number, line, &mut text));
    Part { text, ended }
}
