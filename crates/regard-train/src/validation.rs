//! How a model is judged during training. Translating is not this crate's business: who wants BLEU brings a
//! [`Validator`] of their own.

use regard_model::{Scored, Seq2Seq, Training};
use regard_tensor::{Tape, Threads};
use regard_text::{Batch, BatchSize, Pair, Sampler};
use serde::Serialize;

use crate::error::{Result, TrainError};

/// Judges a model.
pub trait Validator {
    /// The verdict on a model after an update.
    ///
    /// # Errors
    /// Where the model cannot be run.
    fn validate(
        &mut self,
        model: &dyn Seq2Seq,
        step: u64,
    ) -> std::result::Result<Validation, Box<dyn std::error::Error + Send + Sync>>;
}

/// The verdict on a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// -log p per target token (natural logarithm, end symbols included, no smoothing, no noise).
    pub loss: f64,
    /// e to the loss.
    pub perplexity: f64,
    /// BLEU of translations, from 0 to 100, where it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bleu: Option<f64>,
    /// Token accuracy under teacher forcing minus that in free running, where it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure_gap: Option<f64>,
    /// The number that decides which model is the best.
    pub score: f64,
    /// Whether a higher score is better.
    #[serde(skip)]
    pub higher_is_better: bool,
}

impl Validation {
    /// A verdict by the loss.
    #[must_use]
    pub fn by_loss(loss: f64) -> Self {
        Self {
            loss,
            perplexity: loss.exp(),
            bleu: None,
            exposure_gap: None,
            score: loss,
            higher_is_better: false,
        }
    }

    /// The verdict with BLEU, which now decides.
    #[must_use]
    pub fn with_bleu(self, bleu: f64) -> Self {
        Self { bleu: Some(bleu), score: bleu, higher_is_better: true, ..self }
    }

    /// The verdict with an exposure gap. The loss still decides: a model that always writes the same has no gap.
    #[must_use]
    pub fn with_exposure_gap(self, gap: f64) -> Self {
        Self { exposure_gap: Some(gap), ..self }
    }
}

/// Judges a model by its loss on pairs that it was not trained on.
pub struct LossValidator {
    batches: Vec<Batch>,
    threads: Threads,
}

/// Sums over all target tokens.
#[derive(Default)]
struct Totals {
    negative_log_likelihood: f64,
    tokens: usize,
    correct: usize,
}

impl LossValidator {
    /// A validator on these pairs, in batches of the given size, in order.
    ///
    /// # Errors
    /// Where there is no pair.
    pub fn new(pairs: &[Pair], size: BatchSize, threads: &Threads) -> Result<Self> {
        if pairs.is_empty() {
            return Err(TrainError::NoValidationPairs);
        }
        let order = Sampler::new(pairs, size, 0).in_order();
        let batches = order.iter().map(|indices| Ok(Batch::read(pairs, indices)?)).collect::<Result<_>>()?;
        Ok(Self { batches, threads: threads.clone() })
    }

    /// -log p per target token: Σ over all tokens, divided by their number.
    ///
    /// # Errors
    /// Where the model cannot be run.
    pub fn loss(&self, model: &dyn Seq2Seq) -> Result<f64> {
        let totals = self.totals(model)?;
        Ok(totals.negative_log_likelihood / totals.tokens as f64)
    }

    /// The part of the target tokens that have the largest probability under teacher forcing, from 0 to 1.
    ///
    /// # Errors
    /// Where the model cannot be run.
    pub fn accuracy(&self, model: &dyn Seq2Seq) -> Result<f64> {
        let totals = self.totals(model)?;
        Ok(totals.correct as f64 / totals.tokens as f64)
    }

    fn totals(&self, model: &dyn Seq2Seq) -> Result<Totals> {
        let weights = model.parameters().constants();
        let mut totals = Totals::default();
        for batch in &self.batches {
            let tape = Tape::inference(&self.threads);
            let training = Training {
                tape: &tape,
                weights: &weights,
                noise: None,
                label_smoothing: 0.0,
                scored: Scored::All,
                factor: 1.0,
                hook: None,
            };
            let output = model.loss(&training, batch)?;
            totals.negative_log_likelihood += output.negative_log_likelihood;
            totals.tokens += output.tokens;
            totals.correct += output.correct;
        }
        Ok(totals)
    }
}

impl Validator for LossValidator {
    fn validate(
        &mut self,
        model: &dyn Seq2Seq,
        _step: u64,
    ) -> std::result::Result<Validation, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Validation::by_loss(self.loss(model)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p19_an_empty_set_is_an_error_and_no_nan() {
        let error = LossValidator::new(&[], BatchSize::Sentences(4), &Threads::single()).err().unwrap();
        assert!(error.to_string().contains("no pairs to validate on"));
    }

    #[test]
    fn the_last_metric_decides() {
        let verdict = Validation::by_loss(2.0).with_bleu(30.0);
        assert!(verdict.higher_is_better && (verdict.score - 30.0).abs() < f64::EPSILON);
        let json = serde_json::to_string(&Validation::by_loss(0.0)).unwrap();
        assert_eq!(json, r#"{"loss":0.0,"perplexity":1.0,"score":0.0}"#);
    }
}
