//! `regard train`: from a recipe to a model.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use regard_train::{Outcome, Recipe, TrainError};

use super::failure::WrongCall;
use super::settings::Settings;
use super::training_run::{TrainingRun, stop_by_signal};

/// Train a model as a recipe says.
///
/// SIGINT and SIGTERM save a checkpoint and end; --resume continues to the same bytes.
///
/// Example: regard train recipes/multi30k-en-fr-attention.toml --out run --set training.updates=500
#[derive(Args)]
pub(super) struct TrainArgs {
    /// The recipe
    recipe: PathBuf,
    /// The directory of the run
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Change a value of the recipe, such as model.encoder.hidden=128; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    changes: Vec<String>,
    /// Continue the run that is in the directory
    #[arg(long)]
    resume: bool,
    /// The seed, in place of the recipe's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &TrainArgs) -> Result<()> {
    let stop = stop_by_signal()?;
    let recipe = read_recipe(args)?;
    let TrainArgs { out, resume, settings, .. } = args;
    let run = TrainingRun { name: "train", recipe: &recipe, out, resume: *resume, settings };
    let (outcome, step) = run.train(&stop)?;
    say_outcome(args, outcome, step);
    Ok(())
}

fn say_outcome(args: &TrainArgs, outcome: Outcome, step: u64) {
    let out = args.out.display();
    args.settings.say(match outcome {
        Outcome::Finished => format!("finished after {step} updates; the best model is in {out}"),
        Outcome::StoppedEarly => {
            format!("stopped after {step} updates, since validations brought nothing better; the best model is in {out}")
        }
        Outcome::Interrupted => format!("interrupted after {step} updates; continue with --resume --out {out}"),
    });
}

fn read_recipe(args: &TrainArgs) -> Result<Recipe> {
    let path = &args.recipe;
    let text =
        std::fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let mut changes = args.changes.clone();
    changes.extend(args.seed.map(|seed| format!("seed={seed}")));
    let mut recipe = Recipe::parse(&text, &changes).map_err(|error| match error {
        TrainError::Change { .. } => WrongCall(format!("--set {error}")).into(),
        error => anyhow::Error::from(error).context(path.display().to_string()),
    })?;
    recipe.resolve_paths(path.parent().unwrap_or(Path::new(".")));
    Ok(recipe)
}
