//! `regard import`: models of other programs.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use regard_model::checkpoint;
use regard_model::exchange::hf_marian;

use super::settings::Settings;

/// Takes over a model of another program, to be used like one that was trained here.
///
/// Example: regard import hf-marian opus-mt-en-fr --out enfr
#[derive(Args)]
pub(super) struct ImportArgs {
    #[command(subcommand)]
    format: Format,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Subcommand)]
enum Format {
    /// A Marian model of Hugging Face, such as OPUS-MT's: config.json, model.safetensors, source.spm, target.spm, vocab.json
    HfMarian {
        /// The directory as it comes from the hub
        model: PathBuf,
        /// The directory of the new model; it must not exist
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

pub(super) fn run(args: &ImportArgs) -> Result<()> {
    let Format::HfMarian { model, out } = &args.format;
    if out.exists() {
        bail!("{} exists already; name a new directory", out.display());
    }
    let (info, network) = hf_marian::read(model)?;
    checkpoint::write_directory(out, |dir| checkpoint::save(dir, &info, network.parameters()))?;
    args.settings.say(format_args!(
        "a Transformer of {} weights, {} target tokens and {} tags is in {}",
        network.parameters().count(),
        info.target.vocabulary.len(),
        info.source.tags().len(),
        out.display()
    ));
    Ok(())
}
