//! `regard tokenizer`: learn a tokenizer, turn lines into tokens and back.

mod apply;
mod train;
mod workers;

use anyhow::Result;
use clap::{Args, Subcommand};

use apply::{DecodeArgs, EncodeArgs};
use train::TrainArgs;

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

pub(super) fn run(args: &TokenizerArgs) -> Result<()> {
    match &args.action {
        Action::Train(args) => train::run(args),
        Action::Encode(args) => apply::encode(args),
        Action::Decode(args) => apply::decode(args),
    }
}
