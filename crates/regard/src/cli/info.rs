//! `regard info`: what a model is made of.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::output::{print, print_json};
use super::settings::{Settings, load};

/// What a model is made of: languages, vocabularies, network, parameters.
///
/// Example: regard info model
#[derive(Args)]
pub(super) struct InfoArgs {
    /// The model's directory
    model: PathBuf,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Serialize)]
struct Report {
    source_language: String,
    target_language: String,
    source_vocabulary: usize,
    target_vocabulary: usize,
    parameters: usize,
    attention: bool,
    config: regard_model::ModelConfig,
}

pub(super) fn run(args: &InfoArgs) -> Result<()> {
    let (info, network) = load(&args.model)?;
    let report = Report {
        source_vocabulary: info.source.vocabulary.len(),
        target_vocabulary: info.target.vocabulary.len(),
        source_language: info.source_language,
        target_language: info.target_language,
        parameters: network.parameters().count(),
        attention: network.has_attention(),
        config: info.config,
    };
    if args.json {
        return print_json(&report);
    }
    let language = |code: &str| if code.is_empty() { "not named".to_owned() } else { code.to_owned() };
    print(&format!(
        "languages     {} to {}\nvocabularies  {} source, {} target entries\nparameters    {}\n{}",
        language(&report.source_language),
        language(&report.target_language),
        report.source_vocabulary,
        report.target_vocabulary,
        report.parameters,
        toml::to_string(&report.config)?.trim_end()
    ))
}
