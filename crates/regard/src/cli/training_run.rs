//! One run of training: from a recipe to the best model in a directory.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use regard_model::{ModelInfo, Seq2Seq, TiedEmbeddings, checkpoint, exchange};
use regard_tensor::Threads;
use regard_text::{PairSource, ParallelText, Pipeline};
use regard_train::{
    Adversary, Checkpoint, GuidedAlignment, Objective, Outcome, RECIPE_FILE, Recipe, Resampler, RunDirectory,
    TrainError, Trainer, Validator,
};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::corpora::{TrainingData, TrainingPairs};
use super::pipelines::training_side;
use super::progress::Progress;
use super::settings::{Settings, load};
use super::validators::TextValidator;

/// A run that begins, or goes on where it stopped.
pub(super) struct TrainingRun<'a> {
    /// What its progress is shown under.
    pub(super) name: &'a str,
    pub(super) recipe: &'a Recipe,
    /// The directory of the run.
    pub(super) out: &'a Path,
    /// Whether a run that is there goes on; without, it is an error.
    pub(super) resume: bool,
    pub(super) settings: &'a Settings,
}

/// What SIGINT and SIGTERM set. The first one lets the work save and end; a second one, during a long validation perhaps, ends at once.
pub(super) fn stop_by_signal() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

impl TrainingRun<'_> {
    /// Trains until the end or until it is stopped: how it ended, and after how many updates.
    pub(super) fn train(&self, stop: &AtomicBool) -> Result<(Outcome, u64)> {
        let recipe = self.recipe;
        let threads = self.settings.threads()?;
        let data = TrainingData::open(recipe, self.settings)?;
        let (info, trainer) = if self.resume && RunDirectory::holds_run(self.out) {
            self.go_on(&threads)?
        } else {
            if self.resume {
                self.settings.say(format_args!("{} holds no run: beginning one", self.out.display()));
            }
            self.begin(&data, &threads)?
        };
        let (source, target) = (training_side(recipe, &info.source), training_side(recipe, &info.target));
        let TrainingPairs { pairs, links } = data.encode(&source, &target, stop)?;
        // The text is not needed any more.
        drop(data);
        self.settings.say(format_args!(
            "{} pairs; vocabularies {} and {}; {} parameters",
            pairs.len(),
            info.source.vocabulary.len(),
            info.target.vocabulary.len(),
            trainer.model().parameters().count()
        ));
        let objective = objective(recipe, links, &info, trainer.model())?;
        let resampler =
            recipe.tokenizer.resampling().map(|options| Resampler::new(&source, &target, options));
        let mut trainer = trainer.with_resampler(resampler).with_objective(objective);
        let mut validator = validator(recipe, &source, &target, &threads)?;
        let mut progress = Progress::new(self.name, self.settings.quiet, Some(self.out));
        let judge = validator.as_mut().map(|validator| validator as &mut dyn Validator);
        let outcome = trainer.run(&*pairs, judge, &mut progress, stop);
        progress.finish();
        let outcome = outcome.map_err(|error| self.with_lines(error, &source, &target))?;
        checkpoint::write_file(&self.out.join(RECIPE_FILE), recipe.to_toml()?.as_bytes())?;
        Ok((outcome, trainer.progress().step))
    }

    /// An error of the training, with the lines of the pairs that made it. Standard input cannot be read again for them.
    fn with_lines(&self, error: TrainError, source: &Pipeline, target: &Pipeline) -> anyhow::Error {
        let TrainError::NotFinite { pairs, .. } = &error else { return error.into() };
        let corpora = self.recipe.data.training_corpora();
        if corpora.iter().flat_map(|corpus| corpus.source.paths()).any(|path| path.as_os_str() == "-") {
            return error.into();
        }
        let data = TrainingData::open(self.recipe, self.settings);
        match data.and_then(|data| data.places(pairs, source, target)) {
            Ok(places) => anyhow::Error::from(error).context(places),
            // The text has changed or gone, which is not what ended the run.
            Err(_) => error.into(),
        }
    }

    /// A run from its first update.
    fn begin(&self, data: &TrainingData, threads: &Threads) -> Result<(ModelInfo, Trainer)> {
        let recipe = self.recipe;
        if RunDirectory::holds_run(self.out) {
            anyhow::bail!(
                "{} holds a run already: continue it with --resume, or name a new directory",
                self.out.display()
            );
        }
        let (info, model) = match &recipe.init_from {
            Some(first) => first_model(recipe, first)?,
            None => new_model(recipe, data)?,
        };
        let trainer = Trainer::new(model, recipe.training.clone(), recipe.seed, threads)?
            .with_patience(recipe.validation.patience)
            .in_directory(RunDirectory::new(self.out, info.clone()));
        Ok((info, trainer))
    }

    /// A run from its newest checkpoint.
    fn go_on(&self, threads: &Threads) -> Result<(ModelInfo, Trainer)> {
        let recipe = self.recipe;
        let checkpoint = Checkpoint::newest(self.out)?;
        for (path, error) in &checkpoint.skipped {
            self.settings.say(format_args!("{} is damaged and left out: {error}", path.display()));
        }
        let info = checkpoint.info.clone();
        let config = match recipe.init_from {
            Some(_) => recipe.changed(&info.config)?,
            None => recipe.model_config()?,
        };
        if info.config != config {
            anyhow::bail!(
                "{} was begun with another [model]; give the same, or name a new directory",
                self.out.display()
            );
        }
        let trainer = Trainer::resume(checkpoint, recipe.training.clone(), recipe.seed, threads)?
            .with_patience(recipe.validation.patience);
        self.settings.say(format_args!("continuing after update {}", trainer.progress().step));
        Ok((info, trainer))
    }
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
