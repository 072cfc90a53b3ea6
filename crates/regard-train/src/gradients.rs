//! The gradients of one update: of a batch, or of several that count as one.

use regard_model::{Noise, Scored, Seq2Seq, Training};
use regard_tensor::{Gradient, List, Tape, Threads};
use regard_text::Batch;

use crate::config::TrainingConfig;
use crate::error::Result;
use crate::frozen::Frozen;
use crate::noise::noise_key;
use crate::objective::Objective;

/// What one update is computed from.
pub struct GradientInput<'a> {
    /// The model.
    pub model: &'a dyn Seq2Seq,
    /// Label smoothing and scheduled sampling.
    pub config: &'a TrainingConfig,
    /// Decides the noise, with `step`.
    pub seed: u64,
    /// The update, from 1.
    pub step: u64,
    /// Compute.
    pub threads: &'a Threads,
    /// The weights that get no gradient.
    pub frozen: &'a Frozen,
    /// What is made small.
    pub objective: &'a Objective,
}

/// What one update is made from.
pub struct UpdateGradients {
    /// The loss per target token of each batch's part: their sum is the loss of the update.
    pub losses: List<f64>,
    /// Σ -log p over all target tokens.
    pub negative_log_likelihood: f64,
    /// Target tokens.
    pub tokens: usize,
    /// In the order of the weights; `None` where the loss does not depend on one, or it is frozen.
    pub gradients: List<Option<Gradient>>,
}

impl GradientInput<'_> {
    /// The gradients of the loss per target token of `batches` together.
    ///
    /// The factor of the loss is 1 / (target tokens of the whole update), so that several batches give what one big batch
    /// would, and never a mean of means.
    ///
    /// # Errors
    /// Where the model cannot be run.
    pub fn compute(&self, batches: &[Batch]) -> Result<UpdateGradients> {
        let tokens: usize = batches.iter().map(|batch| batch.target.tokens()).sum();
        let mut sum = UpdateGradients {
            losses: List::default(),
            negative_log_likelihood: 0.0,
            tokens,
            gradients: List::default(),
        };
        for (part, batch) in batches.iter().enumerate() {
            let tape = Tape::new(self.threads).with_precision(self.config.precision.into());
            let weights = self.frozen.leaves(self.model.parameters(), &tape);
            let noise = Noise {
                key: noise_key(self.seed, self.step, part as u64),
                sampling: self.config.sampling.probability(self.step),
            };
            let training = Training {
                tape: &tape,
                weights: &weights,
                noise: Some(noise),
                label_smoothing: self.config.label_smoothing,
                scored: Scored::All,
                factor: 1.0 / tokens as f64,
                hook: None,
            };
            let output = self.objective.loss(self.model, &training, batch)?;
            sum.losses.push(f64::from(output.loss.value().item()));
            sum.negative_log_likelihood += output.negative_log_likelihood;
            let mut gradients = tape.backward(&output.loss)?;
            let gradients: List<_> = weights.iter().map(|weight| gradients.take(weight)).collect();
            if part == 0 {
                sum.gradients = gradients;
            } else {
                for (sum, gradient) in sum.gradients.iter_mut().zip(gradients) {
                    *sum = plus(self.threads, sum.take(), gradient);
                }
            }
        }
        Ok(sum)
    }
}

fn plus(threads: &Threads, sum: Option<Gradient>, gradient: Option<Gradient>) -> Option<Gradient> {
    match (sum, gradient) {
        (Some(sum), Some(gradient)) => Some(sum.plus(threads, gradient)),
        (sum, gradient) => sum.or(gradient),
    }
}
