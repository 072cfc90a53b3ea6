//! `regard tokenizer`: learn a tokenizer, turn lines into tokens and back.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use regard_text::{Bpe, Lines, Tokenizer};

use super::input::all_lines;
use super::output::{Output, check_apart};
use super::settings::Settings;

/// Byte-pair encoding as subword-nmt 0.2 has it: learn merges, apply them, undo them.
///
/// Example: regard tokenizer train train.en train.fr --merges 8000 -o codes
#[derive(Args)]
pub(super) struct TokenizerArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Learn merges from text
    Train(TrainArgs),
    /// Lines to tokens
    Encode(ApplyArgs),
    /// Tokens to lines
    Decode(ApplyArgs),
}

#[derive(Args)]
struct TrainArgs {
    /// Text files, learned from together
    #[arg(required = true)]
    text: Vec<PathBuf>,
    /// Merges to learn
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    merges: usize,
    /// A pair that is seen less often is not merged
    #[arg(long, default_value_t = 2, value_name = "N")]
    min_frequency: u64,
    /// Write the merges here
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Args)]
struct ApplyArgs {
    /// The merges
    #[arg(long, value_name = "FILE")]
    codes: PathBuf,
    /// Read lines from here [default: standard input]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write lines here [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &TokenizerArgs) -> Result<()> {
    match &args.action {
        Action::Train(args) => train(args),
        Action::Encode(args) => apply(args, |tokenizer, line| tokenizer.tokenize(line).join(" ")),
        Action::Decode(args) => apply(args, |tokenizer, line| {
            let tokens: Vec<&str> = line.split(' ').filter(|token| !token.is_empty()).collect();
            tokenizer.detokenize(&tokens)
        }),
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
    let bpe = Bpe::learn(lines.iter().map(String::as_str), args.merges, args.min_frequency);
    bpe.write(&args.output)?;
    let learned = bpe.merges().len();
    args.settings.say(format_args!(
        "{learned} merges of {} lines are in {}",
        lines.len(),
        args.output.display()
    ));
    Ok(())
}

fn apply(args: &ApplyArgs, convert: impl Fn(&Tokenizer, &str) -> String) -> Result<()> {
    let tokenizer = Tokenizer::Bpe(Bpe::read(&args.codes)?);
    check_apart(args.input.as_ref(), args.output.as_ref())?;
    let input = Lines::open(args.input.as_deref().unwrap_or("-".as_ref()))?;
    let mut output = Output::open(args.output.as_ref())?;
    for line in input {
        output.line(&convert(&tokenizer, &line?))?;
        if args.input.is_none() {
            output.flush()?;
        }
    }
    output.finish()
}
