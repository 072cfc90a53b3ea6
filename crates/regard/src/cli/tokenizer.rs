//! `regard tokenizer`: learn a tokenizer, turn lines into tokens and back.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use regard_text::{
    Bpe, Lines, ScoredSegmentation, SentencePiece, SentencePieceAlgorithm, SentencePieceConfig,
    SentencePieceNormalization, SentencePieceToken, Tokenizer,
};

use super::failure::WrongCall;
use super::input::all_lines;
use super::output::{Output, check_apart};
use super::settings::Settings;

/// Byte-pair encoding as subword-nmt 0.2 has it, or SentencePiece: learn, apply, undo.
///
/// Example: regard tokenizer train train.en train.fr --kind sentencepiece --vocabulary-size 8000 -o enfr.model
#[derive(Args)]
pub(super) struct TokenizerArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Learn merges or a SentencePiece model from text
    Train(TrainArgs),
    /// Lines to tokens
    Encode(EncodeArgs),
    /// Tokens to lines
    Decode(DecodeArgs),
}

#[derive(Args)]
struct TrainArgs {
    /// Text files, learned from together
    #[arg(required = true)]
    text: Vec<PathBuf>,
    /// What is learned
    #[arg(long, value_enum, default_value_t = Kind::Bpe)]
    kind: Kind,
    /// bpe: merges to learn
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    merges: usize,
    /// bpe: a pair that is seen less often is not merged
    #[arg(long, default_value_t = 2, value_name = "N")]
    min_frequency: u64,
    #[command(flatten)]
    sentencepiece: SentencePieceArgs,
    /// Write the merges or the model here
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    settings: Settings,
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

/// Which tokenizer is applied.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Merges of byte-pair encoding
    #[arg(long, value_name = "FILE")]
    codes: Option<PathBuf>,
    /// A SentencePiece model
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
struct EncodeArgs {
    #[command(flatten)]
    which: Which,
    /// The model's ids in place of its pieces
    #[arg(long, conflicts_with = "codes")]
    ids: bool,
    /// The N best segmentations, a line each: number of the line ||| pieces ||| score
    #[arg(long, value_name = "N", conflicts_with = "codes", value_parser = clap::value_parser!(u16).range(1..=1024))]
    nbest: Option<u16>,
    #[command(flatten)]
    files: Files,
}

#[derive(Args)]
struct DecodeArgs {
    #[command(flatten)]
    which: Which,
    /// The lines hold the model's ids
    #[arg(long, conflicts_with = "codes")]
    ids: bool,
    #[command(flatten)]
    files: Files,
}

pub(super) fn run(args: &TokenizerArgs) -> Result<()> {
    match &args.action {
        Action::Train(args) => train(args),
        Action::Encode(args) => encode(args),
        Action::Decode(args) => decode(args),
    }
}

fn train(args: &TrainArgs) -> Result<()> {
    let mut lines = Vec::new();
    for path in &args.text {
        lines.extend(all_lines(path)?);
    }
    if lines.is_empty() {
        let files: Vec<String> = args.text.iter().map(|path| path.display().to_string()).collect();
        bail!("{}: no text to learn from", files.join(", "));
    }
    let learned = match args.kind {
        Kind::Bpe => {
            let bpe = Bpe::learn(lines.iter().map(String::as_str), args.merges, args.min_frequency);
            bpe.write(&args.output)?;
            format!("{} merges", bpe.merges().len())
        }
        Kind::SentencePiece => {
            let model = train_sentencepiece(args, &lines)?;
            model.write(&args.output)?;
            format!("{} pieces", model.len())
        }
    };
    args.settings.say(format_args!("{learned} of {} lines are in {}", lines.len(), args.output.display()));
    Ok(())
}

fn train_sentencepiece(args: &TrainArgs, lines: &[String]) -> Result<SentencePiece> {
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
    let mut report = |progress: regard_text::SentencePieceProgress| {
        args.settings.say(format_args!("{} pieces on the way to {}", progress.pieces, progress.goal));
    };
    Ok(SentencePiece::train(lines, &config, threads, &mut report)?)
}

fn encode(args: &EncodeArgs) -> Result<()> {
    let shown = |tokens: &[SentencePieceToken]| {
        let shown =
            |token: &SentencePieceToken| if args.ids { token.id.to_string() } else { token.piece.clone() };
        tokens.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    match tokenizer(&args.which)? {
        Tokenizer::SentencePiece(model) => apply(&args.files, |number, line| match args.nbest {
            None => Ok(vec![shown(&model.segment(line))]),
            Some(count) => {
                let numbered = |path: &ScoredSegmentation| {
                    format!("{number} ||| {} ||| {}", shown(&path.tokens), path.score)
                };
                Ok(model.nbest(line, usize::from(count))?.iter().map(numbered).collect())
            }
        }),
        other => apply(&args.files, |_, line| Ok(vec![other.tokenize(line).join(" ")])),
    }
}

fn decode(args: &DecodeArgs) -> Result<()> {
    let tokenizer = tokenizer(&args.which)?;
    apply(&args.files, |number, line| {
        let tokens: Vec<&str> = line.split(' ').filter(|token| !token.is_empty()).collect();
        let text = match &tokenizer {
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
        (None, Some(model)) => Ok(Tokenizer::SentencePiece(SentencePiece::read(model)?)),
        (None, None) => Err(WrongCall("give --codes or --model".to_owned()).into()),
    }
}

/// Turns each line, given with its number from 0, into lines.
fn apply(files: &Files, convert: impl Fn(usize, &str) -> Result<Vec<String>>) -> Result<()> {
    check_apart(files.input.as_ref(), files.output.as_ref())?;
    let input = Lines::open(files.input.as_deref().unwrap_or("-".as_ref()))?;
    let mut output = Output::open(files.output.as_ref())?;
    let waits_for_nobody = files.input.as_deref().is_some_and(Path::is_file);
    for (number, line) in input.enumerate() {
        for converted in convert(number, &line?)? {
            output.line(&converted)?;
        }
        // Who waits for an answer gets it: at a terminal, behind a pipe.
        if !waits_for_nobody {
            output.flush()?;
        }
    }
    output.finish()
}
