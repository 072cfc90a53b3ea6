//! One update after another: the model and everything that changes with it.

use regard_model::Seq2Seq;
use regard_tensor::Threads;
use regard_tensor::optim::{Optimizer, clip_by_global_norm, global_norm};
use regard_text::Batch;

use crate::average::Ema;
use crate::config::TrainingConfig;
use crate::error::{Result, TrainError};
use crate::frozen::Frozen;
use crate::gradients::{GradientInput, UpdateGradients};
use crate::identity::Identity;
use crate::objective::Objective;
use crate::observer::Update;
use crate::resampler::Resampler;
use crate::run_directory::{Checkpoint, RunDirectory};
use crate::schedule::Schedule;
use crate::training_state::Progress;

/// A model in training. [`Trainer::run`] trains it on pairs; [`Trainer::update`] is one update.
///
/// The weights are the same bits for any number of threads, and whether or not a run was stopped and resumed: all that is
/// random is a function of (seed, update, batch of the update).
pub struct Trainer {
    pub(crate) model: Box<dyn Seq2Seq>,
    pub(crate) config: TrainingConfig,
    pub(crate) seed: u64,
    pub(crate) patience: u64,
    pub(crate) threads: Threads,
    pub(crate) frozen: Frozen,
    pub(crate) optimizer: Optimizer,
    pub(crate) schedule: Schedule,
    pub(crate) ema: Option<Ema>,
    pub(crate) progress: Progress,
    pub(crate) resampler: Option<Resampler>,
    pub(crate) objective: Objective,
    pub(crate) directory: Option<RunDirectory>,
    /// What the run began as, where it was resumed.
    pub(crate) began: Option<Identity>,
}

impl Trainer {
    /// A trainer at its first update. Without a directory nothing is written.
    ///
    /// # Errors
    /// Where the configuration asks for something impossible, or freezes what the model has not.
    pub fn new(
        model: Box<dyn Seq2Seq>,
        config: TrainingConfig,
        seed: u64,
        threads: &Threads,
    ) -> Result<Self> {
        check(&config)?;
        let frozen = Frozen::new(&config.freeze, model.parameters())?;
        let weights = model.parameters().values();
        let optimizer = Optimizer::new(config.optimizer.rule(), weights);
        let ema = (config.ema > 0.0).then(|| Ema::new(config.ema, weights));
        let schedule = Schedule::new(config.schedule, config.updates);
        Ok(Self {
            model,
            config,
            seed,
            patience: 0,
            threads: threads.clone(),
            frozen,
            optimizer,
            schedule,
            ema,
            progress: Progress::default(),
            resampler: None,
            objective: Objective::default(),
            directory: None,
            began: None,
        })
    }

    /// A trainer that goes on where a checkpoint was written. The length of the run and the schedule may have changed.
    ///
    /// # Errors
    /// Where the configuration asks for something impossible. What must not have changed is checked by [`Trainer::run`].
    pub fn resume(
        checkpoint: Checkpoint,
        config: TrainingConfig,
        seed: u64,
        threads: &Threads,
    ) -> Result<Self> {
        let mut trainer = Self::new(checkpoint.model, config, seed, threads)?;
        let state = checkpoint.state;
        trainer.optimizer = state.optimizer;
        trainer.ema = state.ema;
        trainer.schedule.state = state.progress.schedule;
        trainer.progress = state.progress;
        trainer.directory = Some(checkpoint.directory);
        trainer.began = Some(state.identity);
        Ok(trainer)
    }

    /// The same, which ends after so many validations in a row without a better one; 0 for never.
    #[must_use]
    pub fn with_patience(self, patience: u64) -> Self {
        Self { patience, ..self }
    }

    /// The same, which cuts the text anew in each epoch.
    #[must_use]
    pub fn with_resampler(self, resampler: Option<Resampler>) -> Self {
        Self { resampler, ..self }
    }

    /// The same, which makes something else small than −log p of the right words.
    #[must_use]
    pub fn with_objective(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// The same, which keeps the best model, checkpoints and the log in a directory.
    #[must_use]
    pub fn in_directory(self, directory: RunDirectory) -> Self {
        Self { directory: Some(directory), ..self }
    }

    /// The model as it is now.
    #[must_use]
    pub fn model(&self) -> &dyn Seq2Seq {
        &*self.model
    }

    /// The model as it is now, or the moving average of its weights, where one is kept.
    #[must_use]
    pub fn into_model(mut self) -> Box<dyn Seq2Seq> {
        self.swap_average();
        self.model
    }

    /// Where the run stands.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Whether there is nothing left to do.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let Progress { step, epoch, best, .. } = self.progress;
        let reached = |done: u64, limit: Option<u64>| limit.is_some_and(|limit| done >= limit);
        reached(step, self.config.updates)
            || reached(epoch, self.config.epochs)
            || best.is_exhausted(self.patience)
    }

    /// One update from the batches given, which count as one.
    ///
    /// # Errors
    /// Where the model cannot be run, or the loss or the norm of the gradients is not finite; the weights are then as
    /// they were.
    pub fn update(&mut self, batches: &[Batch]) -> Result<Update> {
        let step = self.progress.step + 1;
        let Self { model, config, seed, threads, frozen, objective, .. } = self;
        let input = GradientInput { model: &**model, config, seed: *seed, step, threads, frozen, objective };
        let UpdateGradients { losses, negative_log_likelihood, tokens, mut gradients } =
            input.compute(batches)?;
        for (part, &loss) in losses.iter().enumerate() {
            self.check_finite("the loss", loss, part, batches.get(part..=part).unwrap_or_default())?;
        }
        let gradient_norm = global_norm(&self.threads, &gradients);
        self.check_finite("the norm of the gradients", gradient_norm, 0, batches)?;
        if self.config.clip_norm > 0.0 {
            clip_by_global_norm(&self.threads, &mut gradients, gradient_norm, self.config.clip_norm);
        }
        let learning_rate = self.schedule.learning_rate(step);
        let weights = self.model.parameters_mut().values_mut();
        self.optimizer.update(&self.threads, weights, &gradients, learning_rate);
        if let Some(ema) = &mut self.ema {
            ema.update(weights);
            self.frozen.restore(weights, ema.values_mut());
        }
        let update = Update {
            step,
            epoch: self.progress.epoch + 1,
            tokens: tokens as u64,
            loss: losses.iter().sum(),
            negative_log_likelihood,
            learning_rate,
            gradient_norm,
        };
        self.progress.step = step;
        self.progress.tokens += update.tokens;
        self.progress.window.add(&update);
        self.progress.last = Some(update);
        Ok(update)
    }

    fn check_finite(&self, what: &'static str, value: f64, part: usize, batches: &[Batch]) -> Result<()> {
        if value.is_finite() {
            return Ok(());
        }
        Err(TrainError::NotFinite {
            what,
            value,
            step: self.progress.step + 1,
            epoch: self.progress.epoch + 1,
            batch: self.progress.batch + part + 1,
            pairs: batches.iter().flat_map(|batch| &batch.indices).map(|index| index + 1).collect(),
        })
    }

    /// Exchanges the weights with their moving average, where one is kept; a second call changes them back.
    pub(crate) fn swap_average(&mut self) {
        if let Some(ema) = &mut self.ema {
            self.model.parameters_mut().values_mut().swap_with_slice(ema.values_mut());
        }
    }
}

fn check(config: &TrainingConfig) -> Result<()> {
    config.check().map_err(|problem| TrainError::Impossible {
        line: None,
        key: format!("training.{}", problem.key),
        reason: problem.reason,
    })
}
