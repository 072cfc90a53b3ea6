//! `regard average`: the mean of several checkpoints as one model.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use regard_model::checkpoint;

use super::output::check_new;
use super::settings::{Settings, load};

/// The mean of the weights of several checkpoints, written as one model.
///
/// Example: regard average run/checkpoints/step-* --out averaged
#[derive(Args)]
pub(super) struct AverageArgs {
    /// Checkpoints of one training run
    #[arg(required = true)]
    checkpoints: Vec<PathBuf>,
    /// The directory of the new model; it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &AverageArgs) -> Result<()> {
    check_new(&args.out)?;
    let models = args.checkpoints.iter().map(|path| load(path)).collect::<Result<Vec<_>>>()?;
    let parameters: Vec<_> = models.iter().map(|(_, network)| network.parameters()).collect();
    let mean = regard_train::average(&parameters)
        .context("the checkpoints do not belong to one run, their weights differ in name or shape")?;
    let Some((info, _)) = models.first() else { return Ok(()) };
    checkpoint::write_directory(&args.out, |dir| checkpoint::save(dir, info, &mean))?;
    args.settings.say(format_args!("the mean of {} checkpoints is in {}", models.len(), args.out.display()));
    Ok(())
}
