//! `regard export`: models for other programs.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use regard_model::checkpoint;
use regard_model::exchange::hf_marian;

use super::model_card::ModelCard;
use super::output::check_new;
use super::settings::{Settings, load};

/// Writes a model for another program.
///
/// Example: regard export hf-marian run --out enfr
#[derive(Args)]
pub(super) struct ExportArgs {
    #[command(subcommand)]
    format: Format,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Subcommand)]
enum Format {
    /// A Marian model of Hugging Face, which transformers loads and CTranslate2 converts
    HfMarian {
        /// The model's directory
        model: PathBuf,
        /// The directory to write; it must not exist
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

pub(super) fn run(args: &ExportArgs) -> Result<()> {
    let Format::HfMarian { model, out } = &args.format;
    check_new(out)?;
    let (info, network) = load(model)?;
    let card = ModelCard::new(model, out, &info, network.parameters());
    checkpoint::write_directory(out, |dir| -> Result<(), regard_model::ModelError> {
        hf_marian::write(dir, &info, network.parameters())?;
        checkpoint::write_file(&dir.join("README.md"), card.to_string().as_bytes())
    })?;
    args.settings.say(format_args!("a MarianMTModel is in {}", out.display()));
    Ok(())
}
