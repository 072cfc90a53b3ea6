//! `regard import`: models of other programs.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use regard_model::checkpoint;
use regard_model::exchange::{hf_marian, marian};
use regard_model::{ModelConfig, ModelInfo, Seq2Seq};

use super::output::check_new;
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
    /// A model of Marian itself: model.npz, type s2s or transformer, and its vocabularies
    Marian {
        /// The .npz file
        model: PathBuf,
        /// Its vocabularies (.spm, .yml, .json, or one token a line) [default: those that the .yml files beside it name]
        #[arg(long, num_args = 2, value_names = ["SOURCE", "TARGET"])]
        vocabs: Option<Vec<PathBuf>>,
        /// The directory of the new model; it must not exist
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

pub(super) fn run(args: &ImportArgs) -> Result<()> {
    let (Format::HfMarian { out, .. } | Format::Marian { out, .. }) = &args.format;
    check_new(out)?;
    let (info, network) = read(&args.format, &args.settings)?;
    checkpoint::write_directory(out, |dir| checkpoint::save(dir, &info, network.parameters()))?;
    args.settings.say(format_args!(
        "a {} of {} weights, {} target tokens and {} tags is in {}",
        if matches!(info.config, ModelConfig::Transformer(_)) { "Transformer" } else { "recurrent model" },
        network.parameters().count(),
        info.target.vocabulary.len(),
        info.source.tags().len(),
        out.display()
    ));
    Ok(())
}

fn read(format: &Format, settings: &Settings) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    Ok(match format {
        Format::HfMarian { model, .. } => hf_marian::read(model)?,
        Format::Marian { model, vocabs, .. } => {
            let vocabs = vocabs.as_deref().and_then(|paths| <&[PathBuf; 2]>::try_from(paths).ok());
            let marian::Imported { info, network, other_sizes } = marian::read(model, vocabs)?;
            for other in &other_sizes {
                settings.say(other);
            }
            (info, network)
        }
    })
}
