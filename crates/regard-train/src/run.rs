//! The whole run: batches in their order, reports, validations, checkpoints, and its end.

use std::sync::atomic::{AtomicBool, Ordering};

use regard_text::{Batch, PairSource, Sampler};

use crate::error::{Result, TrainError};
use crate::identity::Identity;
use crate::log::{LogEnd, Record, TrainingLog, ValidRecord, last_record};
use crate::observer::{Event, Observer, Update};
use crate::resampler::Resampler;
use crate::run_directory::RunDirectory;
use crate::trainer::Trainer;
use crate::training_state::{Progress, TrainingState, Window};
use crate::validation::Validator;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It reached its number of updates or epochs.
    Finished,
    /// The validations brought nothing better for too long.
    StoppedEarly,
    /// It was told to stop; a checkpoint was saved.
    Interrupted,
}

/// What a run uses besides the trainer.
struct Session<'a> {
    identity: Identity,
    validator: Option<&'a mut dyn Validator>,
    observer: &'a mut dyn Observer,
    log: Option<TrainingLog>,
    /// Seconds of the run before it was resumed, less the observer's at the start.
    offset: f64,
    /// The last record.
    mark: Mark,
    /// The step of the last checkpoint.
    saved: Option<u64>,
}

/// Where a record begins to count.
#[derive(Clone, Copy)]
struct Mark {
    seconds: f64,
    tokens: u64,
    tokens_per_s: f64,
}

impl Session<'_> {
    /// Seconds of training, pauses left out.
    fn seconds(&mut self) -> f64 {
        self.offset + self.observer.seconds()
    }
}

impl Trainer {
    /// Trains until the updates, the epochs or the patience are used up, or `stop` is set. A run that has been finished
    /// does nothing. Without a validator the newest model counts as the best.
    ///
    /// # Errors
    /// Where there are no pairs or one cannot be read, the objective is of other pairs, the directory already holds a run that this one does not continue, what decides the
    /// course of a resumed run has changed, a number is not finite, or a file cannot be written. The last checkpoint is
    /// then still good.
    pub fn run<'a>(
        &mut self,
        pairs: &(impl PairSource + ?Sized),
        validator: Option<&'a mut dyn Validator>,
        observer: &'a mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome> {
        if pairs.is_empty() {
            return Err(TrainError::NoPairs);
        }
        let resampling = self.resampler.as_ref().map(Resampler::describe);
        self.objective.check(pairs.len())?;
        let objective = self.objective.describe()?;
        let identity = Identity { resampling, objective, ..Identity::new(self.seed, &self.config, pairs)? };
        if let Some(began) = &self.began {
            began.check(&identity)?;
        }
        if self.is_finished() && !self.lacks_last_validation(validator.is_some()) {
            return Ok(self.outcome());
        }
        let mut session = self.open(identity, validator, observer)?;
        let sampler = Sampler::new(pairs, self.config.batch_size(), self.seed);
        let mut order = sampler.epoch(self.progress.epoch);
        if order.is_empty() {
            return Err(TrainError::NoPairs);
        }
        session
            .observer
            .event(&Event::Started { step: self.progress.step, updates: self.planned(order.len()) });
        while !self.is_finished() {
            if stop.load(Ordering::Relaxed) {
                self.save(&mut session)?;
                return Ok(Outcome::Interrupted);
            }
            let start = self.progress.batch.min(order.len());
            let end = start.saturating_add(self.config.accumulate).min(order.len());
            let batch = |index| self.batch(pairs, order.batch(index));
            let batches = (start..end).map(batch).collect::<Result<Vec<_>>>()?;
            let update = self.update(&batches)?;
            self.progress.batch = end;
            if end == order.len() {
                self.progress.batch = 0;
                self.progress.epoch += 1;
                order = sampler.epoch(self.progress.epoch);
            }
            self.after_update(&mut session, &update)?;
        }
        self.finish(&mut session)
    }

    /// The pairs with these indices as this epoch shows them.
    fn batch(&self, pairs: &(impl PairSource + ?Sized), indices: &[u32]) -> Result<Batch> {
        let Some(resampler) = &self.resampler else { return Ok(Batch::read(pairs, indices)?) };
        let (seed, epoch) = (self.seed, self.progress.epoch);
        Ok(Batch::read_with(pairs, indices, |index, pair| resampler.pair(&pair, seed, epoch, index))?)
    }

    fn open<'a>(
        &mut self,
        identity: Identity,
        validator: Option<&'a mut dyn Validator>,
        observer: &'a mut dyn Observer,
    ) -> Result<Session<'a>> {
        let (mut log, mut before) = (None, LogEnd::default());
        if let Some(directory) = &self.directory {
            if self.began.is_none() && RunDirectory::holds_run(directory.path()) {
                return Err(TrainError::RunExists { path: directory.path().to_owned() });
            }
            directory.prepare()?;
            log = Some(TrainingLog::open(directory.path(), self.progress.log_records)?);
            before = last_record(directory.path());
        }
        // From now on the trainer continues this run, also when it is called again.
        let saved = self.began.replace(identity.clone()).map(|_| self.progress.step);
        let LogEnd { seconds, tokens_per_s, .. } = before;
        let offset = seconds - observer.seconds();
        let mark = Mark { seconds, tokens: self.progress.tokens, tokens_per_s };
        Ok(Session { identity, validator, observer, log, offset, mark, saved })
    }

    /// How many updates the run will have, if epochs have as many batches as this one.
    fn planned(&self, batches: usize) -> u64 {
        let by_epochs = self.config.epochs.map(|epochs| {
            let per_epoch = |batches: usize| batches.div_ceil(self.config.accumulate) as u64;
            let done = per_epoch(self.progress.batch);
            self.progress.step + epochs.saturating_sub(self.progress.epoch) * per_epoch(batches) - done
        });
        let limits = [self.config.updates, by_epochs];
        limits.into_iter().flatten().min().unwrap_or(self.progress.step)
    }

    fn after_update(&mut self, session: &mut Session, update: &Update) -> Result<()> {
        session.observer.event(&Event::Updated(*update));
        let is_due = |every: u64| update.step.is_multiple_of(every);
        let validated = session.validator.is_some() && is_due(self.config.validate_every);
        if validated || is_due(self.config.report_every) {
            self.report(session, update, validated)?;
        }
        // A best model without any checkpoint would be a run that cannot go on.
        if is_due(self.config.checkpoint_every) || validated && session.saved.is_none() {
            self.save(session)?;
        }
        Ok(())
    }

    /// Writes a record of what happened since the last one, with a validation where it is wanted.
    fn report(&mut self, session: &mut Session, update: &Update, validated: bool) -> Result<()> {
        // A validation takes time that does not count as training speed.
        let duration = session.seconds() - session.mark.seconds;
        let trained = self.progress.tokens - session.mark.tokens;
        let tokens_per_s = match trained {
            // A validation at the end, after a record of the same update.
            0 => session.mark.tokens_per_s,
            _ if duration > 0.0 => trained as f64 / duration,
            _ => 0.0,
        };
        let valid = if validated { Some(self.validate(session)?) } else { None };

        let mut window = std::mem::take(&mut self.progress.window);
        if window.tokens == 0 {
            window.add(update);
        }
        let Window { loss, negative_log_likelihood, tokens } = window;
        let record = Record {
            step: update.step,
            epoch: update.epoch,
            tokens: self.progress.tokens,
            seconds: session.seconds(),
            loss: loss / tokens as f64,
            perplexity: (negative_log_likelihood / tokens as f64).exp(),
            learning_rate: update.learning_rate,
            gradient_norm: update.gradient_norm,
            tokens_per_s,
            valid,
        };
        if let Some(log) = &mut session.log {
            log.append(&record)?;
        }
        self.progress.log_records += 1;
        session.mark = Mark { seconds: record.seconds, tokens: self.progress.tokens, tokens_per_s };
        session.observer.event(&Event::Reported(record));
        Ok(())
    }

    fn validate(&mut self, session: &mut Session) -> Result<ValidRecord> {
        self.swap_average();
        let judged = self.judge(session);
        self.swap_average();
        judged
    }

    /// The verdict on the weights in place; the best ones are kept.
    fn judge(&mut self, session: &mut Session) -> Result<ValidRecord> {
        let step = self.progress.step;
        let Some(validator) = session.validator.as_deref_mut() else {
            return Err(TrainError::NoValidationPairs);
        };
        let verdict = validator.validate(&*self.model, step);
        let validation = verdict.map_err(|source| TrainError::Validation { step, source })?;
        // A run that ends between two validations keeps the best one before: who resumes it must find what an
        // uninterrupted run would have kept.
        let between = !step.is_multiple_of(self.config.validate_every) && self.progress.best.best.is_some();
        let best =
            !between && self.progress.best.observe(validation.score, validation.higher_is_better, step);
        self.schedule.observe(best);
        if let Some(directory) = self.directory.as_ref().filter(|_| best) {
            directory.save_best(self.model.parameters())?;
        }
        Ok(ValidRecord { validation, best })
    }

    /// Writes a checkpoint, unless there is one of this step.
    fn save(&mut self, session: &mut Session) -> Result<()> {
        if self.directory.is_none() || session.saved == Some(self.progress.step) {
            return Ok(());
        }
        if let Some(log) = &session.log {
            log.sync()?;
        }
        let Some(directory) = &self.directory else { return Ok(()) };
        let state = TrainingState {
            identity: session.identity.clone(),
            progress: Progress { schedule: self.schedule.state, ..self.progress.clone() },
            optimizer: self.optimizer.clone(),
            ema: self.ema.clone(),
        };
        let path = directory.save(&*self.model, &state, self.config.keep_checkpoints)?;
        session.saved = Some(self.progress.step);
        if session.validator.is_none() {
            self.swap_average();
            let saved = self.directory.as_ref().map(|directory| directory.save_best(self.model.parameters()));
            self.swap_average();
            saved.transpose()?;
        }
        session.observer.event(&Event::Saved { step: self.progress.step, path });
        Ok(())
    }

    /// Whether the model at the end of a run is still to be judged: its step is not one of `validate_every`, and no record
    /// came after its checkpoint.
    fn lacks_last_validation(&self, validated: bool) -> bool {
        let records = self.directory.as_ref().map_or(0, |directory| last_record(directory.path()).records);
        validated
            && self.directory.is_some()
            && !self.progress.step.is_multiple_of(self.config.validate_every)
            && records <= self.progress.log_records
    }

    /// The last checkpoint, and then a validation that it knows nothing of: whoever resumes with a larger limit gets what a
    /// run without this end would have given.
    fn finish(&mut self, session: &mut Session) -> Result<Outcome> {
        self.save(session)?;
        let outcome = self.outcome();
        let judged = self.progress.step.is_multiple_of(self.config.validate_every);
        if let Some(last) = self.progress.last.filter(|_| session.validator.is_some() && !judged) {
            let (progress, schedule) = (self.progress.clone(), self.schedule.clone());
            self.report(session, &last, true)?;
            (self.progress, self.schedule) = (progress, schedule);
        }
        if let Some(log) = &session.log {
            log.sync()?;
        }
        Ok(outcome)
    }

    fn outcome(&self) -> Outcome {
        let early = self.progress.best.is_exhausted(self.patience);
        if early { Outcome::StoppedEarly } else { Outcome::Finished }
    }
}
