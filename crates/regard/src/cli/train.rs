//! `regard train`: from a recipe to a model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clap::Args;
use regard_model::{ModelInfo, Seq2Seq, TiedEmbeddings, checkpoint, exchange};
use regard_text::{PairSource, ParallelText, Pipeline};
use regard_train::{
    Adversary, Checkpoint, GuidedAlignment, Objective, Outcome, RECIPE_FILE, Recipe, Resampler, RunDirectory,
    TrainError, Trainer, Validator,
};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::corpora::{TrainingData, TrainingPairs};
use super::failure::WrongCall;
use super::pipelines::training_side;
use super::progress::Progress;
use super::settings::{Settings, load};
use super::validators::TextValidator;

/// Train a model as a recipe says. SIGINT and SIGTERM save a checkpoint and end; --resume continues to the same bytes.
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
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The first one saves and ends; a second one, during a long validation perhaps, ends at once.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let recipe = read_recipe(args)?;
    let threads = args.settings.threads()?;
    let data = TrainingData::open(&recipe, &args.settings)?;
    let mut trainer = if args.resume && RunDirectory::holds_run(&args.out) {
        resume(args, &recipe, &threads)?
    } else {
        if args.resume {
            args.settings.say(format_args!("{} holds no run: beginning one", args.out.display()));
        }
        begin(args, &recipe, &data, &threads)?
    };
    let info = trainer.0;
    let (source, target) = (training_side(&recipe, &info.source), training_side(&recipe, &info.target));
    let TrainingPairs { pairs, links } = data.encode(&source, &target, &stop)?;
    // The text is not needed any more.
    drop(data);
    args.settings.say(format_args!(
        "{} pairs; vocabularies {} and {}; {} parameters",
        pairs.len(),
        info.source.vocabulary.len(),
        info.target.vocabulary.len(),
        trainer.1.model().parameters().count()
    ));
    let resampling = recipe.tokenizer.resampling();
    let objective = objective(&recipe, links, &info, trainer.1.model())?;
    let resampler = resampling.map(|options| Resampler::new(&source, &target, options));
    trainer.1 = trainer.1.with_resampler(resampler).with_objective(objective);
    let mut validator = validator(&recipe, &source, &target, &threads)?;
    let mut progress = Progress::new("train", args.settings.quiet, Some(&args.out));
    let judge = validator.as_mut().map(|validator| validator as &mut dyn Validator);
    let outcome = trainer.1.run(&*pairs, judge, &mut progress, &stop);
    progress.finish();
    let outcome = outcome.map_err(|error| with_lines(error, args, &recipe, (&source, &target)))?;
    checkpoint::write_file(&args.out.join(RECIPE_FILE), recipe.to_toml()?.as_bytes())?;
    say_outcome(args, outcome, trainer.1.progress().step);
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

/// An error of the training, with the lines of the pairs that made it. Standard input cannot be read again for them.
fn with_lines(
    error: TrainError,
    args: &TrainArgs,
    recipe: &Recipe,
    (source, target): (&Pipeline, &Pipeline),
) -> anyhow::Error {
    let TrainError::NotFinite { pairs, .. } = &error else { return error.into() };
    let corpora = recipe.data.training_corpora();
    if corpora.iter().flat_map(|corpus| corpus.source.paths()).any(|path| path.as_os_str() == "-") {
        return error.into();
    }
    let data = TrainingData::open(recipe, &args.settings);
    match data.and_then(|data| data.places(pairs, source, target)) {
        Ok(places) => anyhow::Error::from(error).context(places),
        // The text has changed or gone, which is not what ended the run.
        Err(_) => error.into(),
    }
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

/// A run from its first update.
fn begin(
    args: &TrainArgs,
    recipe: &Recipe,
    data: &TrainingData,
    threads: &regard_tensor::Threads,
) -> Result<(ModelInfo, Trainer)> {
    if RunDirectory::holds_run(&args.out) {
        anyhow::bail!(
            "{} holds a run already: continue it with --resume, or name a new directory",
            args.out.display()
        );
    }
    let (info, model) = match &recipe.init_from {
        Some(first) => first_model(recipe, first)?,
        None => new_model(recipe, data)?,
    };
    let trainer = Trainer::new(model, recipe.training.clone(), recipe.seed, threads)?
        .with_patience(recipe.validation.patience)
        .in_directory(RunDirectory::new(&args.out, info.clone()));
    Ok((info, trainer))
}

/// A model with fresh weights, and tokenizers that are learned from the text.
fn new_model(recipe: &Recipe, data: &TrainingData) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    let config = recipe.model_config()?;
    let (source, target) = data.pipelines(config.tied_embeddings() == TiedEmbeddings::All)?;
    let language = |code: &Option<String>| code.clone().unwrap_or_default();
    let info = ModelInfo {
        config,
        source_language: language(&recipe.data.source_language),
        target_language: language(&recipe.data.target_language),
        source,
        target,
    };
    let model = info.build(recipe.seed)?;
    Ok((info, model))
}

/// The model that the training goes on from. It keeps its languages, unless the recipe names others.
fn first_model(recipe: &Recipe, path: &Path) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    let (mut info, model) = exchange::read(path)
        .with_context(|| format!("init_from: the model {} cannot be used", path.display()))?;
    info.config = recipe.changed(&info.config)?;
    let weights = checkpoint::named(model.parameters());
    let model = info.restore(weights)?;
    let languages = [
        (&mut info.source_language, &recipe.data.source_language),
        (&mut info.target_language, &recipe.data.target_language),
    ];
    for (own, given) in languages {
        if let Some(code) = given {
            own.clone_from(code);
        }
    }
    Ok((info, model))
}

/// A run from its newest checkpoint.
fn resume(
    args: &TrainArgs,
    recipe: &Recipe,
    threads: &regard_tensor::Threads,
) -> Result<(ModelInfo, Trainer)> {
    let checkpoint = Checkpoint::newest(&args.out)?;
    for (path, error) in &checkpoint.skipped {
        args.settings.say(format_args!("{} is damaged and left out: {error}", path.display()));
    }
    let info = checkpoint.info.clone();
    let config = match recipe.init_from {
        Some(_) => recipe.changed(&info.config)?,
        None => recipe.model_config()?,
    };
    if info.config != config {
        anyhow::bail!(
            "{} was begun with another [model]; give the same, or name a new directory",
            args.out.display()
        );
    }
    let trainer = Trainer::resume(checkpoint, recipe.training.clone(), recipe.seed, threads)?
        .with_patience(recipe.validation.patience);
    args.settings.say(format_args!("continuing after update {}", trainer.progress().step));
    Ok((info, trainer))
}

/// What the training makes small.
fn objective(
    recipe: &Recipe,
    links: Option<Box<dyn PairSource>>,
    info: &ModelInfo,
    model: &dyn Seq2Seq,
) -> Result<Objective> {
    let training = &recipe.training;
    if let Some(path) = &training.adversary_of {
        let (base, network) = load(path).context("training.adversary_of")?;
        let vocabularies =
            |info: &ModelInfo| (info.source.vocabulary.clone(), info.target.vocabulary.clone());
        if vocabularies(&base) != vocabularies(info) {
            anyhow::bail!(
                "training.adversary_of: the vocabularies of {} are not those of this run; train an adversary with the recipe \
                 and the text of its model",
                path.display()
            );
        }
        return Ok(Objective::Adversary(Adversary::new(network, training.adversary_lambda, model)?));
    }
    Ok(match (&training.guided_alignment, links) {
        (Some(guided), Some(links)) => Objective::Guided(GuidedAlignment::new(guided, links, model)?),
        _ => Objective::Likelihood,
    })
}

fn validator(
    recipe: &Recipe,
    source: &Pipeline,
    target: &Pipeline,
    threads: &regard_tensor::Threads,
) -> Result<Option<TextValidator>> {
    let Some(text) = recipe.data.validation_text() else { return Ok(None) };
    let text = ParallelText::read(&text)?;
    let lines = recipe.validation.max_lines.unwrap_or(usize::MAX);
    let mut pairs = text.encode(source, target, &recipe.data.valid_tags)?;
    pairs.truncate(lines);
    let references = text.targets().take(lines).map(str::to_owned).collect();
    Ok(Some(TextValidator::new(pairs, references, target, &recipe.validation, threads)?))
}
