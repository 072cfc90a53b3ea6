//! A model and one sentence pair.

use regard_decode::{Controls, Decoding};
use regard_model::{AttentionHook, Distributions, ModelConfig, Scored, Seq2Seq, Training, TransformerConfig};
use regard_tensor::{Tape, Threads, Var};
use regard_text::{Batch, Padded};

use crate::error::{BLIND, LookError, Result};

/// A translation under teacher forcing, to be explained.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The network.
    pub model: &'a dyn Seq2Seq,
    /// What it is made of.
    pub config: &'a ModelConfig,
    /// Computes.
    pub threads: &'a Threads,
    /// Source ids, the end symbol included.
    pub source: &'a [u32],
    /// Target ids, the end symbol included where it was written.
    pub target: &'a [u32],
    /// The decoder's layer whose look at the source norms and value zeroing are of; the last one where none is named.
    pub layer: Option<usize>,
    /// Whether to stop; asked before every pass.
    pub stop: Option<&'a dyn Fn() -> bool>,
}

/// `[target tokens, positions]`.
pub(crate) type Rows = Vec<Vec<f64>>;

impl<'a> Subject<'a> {
    /// The configuration of a Transformer.
    pub(crate) fn transformer(&self, method: &'static str) -> Result<&'a TransformerConfig> {
        match self.config {
            ModelConfig::Transformer(config) => Ok(config),
            ModelConfig::Recurrent(_) => Err(LookError::Unfit {
                method,
                reason: "it is made for Transformers, and this model is recurrent",
            }),
        }
    }

    /// The layer of a Transformer whose look is explained.
    pub(crate) fn cross_layer(&self, config: &TransformerConfig) -> usize {
        self.layer.unwrap_or(config.decoder.layers - 1)
    }

    /// Refuses a model without attention.
    pub(crate) fn needs_attention(&self, method: &'static str) -> Result<()> {
        if self.model.has_attention() {
            return Ok(());
        }
        Err(LookError::Unfit { method, reason: BLIND })
    }

    /// One row a target token, each ending with it: a model's loss of the last tokens is of one token a row.
    pub(crate) fn prefixes(&self) -> Batch {
        let targets: Vec<Vec<u32>> = (1..=self.target.len()).map(|end| self.target[..end].to_vec()).collect();
        Batch {
            source: Padded::from_rows(&vec![self.source.to_vec(); targets.len()]),
            target: Padded::from_rows(&targets),
            indices: (0..targets.len()).collect(),
        }
    }

    /// The pair as it is.
    pub(crate) fn pair(&self) -> Batch {
        self.copies(1)
    }

    /// The pair so many times.
    pub(crate) fn copies(&self, count: usize) -> Batch {
        Batch {
            source: Padded::from_rows(&vec![self.source.to_vec(); count]),
            target: Padded::from_rows(&vec![self.target.to_vec(); count]),
            indices: (0..count).collect(),
        }
    }

    fn go_on(&self) -> Result<()> {
        if self.stop.is_some_and(|stop| stop()) { Err(LookError::Stopped) } else { Ok(()) }
    }

    /// The sum of log p of the tokens that count, on a tape.
    pub(crate) fn log_prob(
        &self,
        tape: &Tape,
        batch: &Batch,
        scored: Scored,
        hook: &dyn AttentionHook,
    ) -> Result<Var> {
        self.go_on()?;
        let weights = self.model.parameters().constants();
        Ok(self.model.loss(&Training { scored, ..forced(tape, &weights, hook) }, batch)?.loss)
    }

    /// The distributions at every place of a batch, on a tape.
    pub(crate) fn distributions(
        &self,
        tape: &Tape,
        batch: &Batch,
        hook: &dyn AttentionHook,
    ) -> Result<Distributions> {
        self.go_on()?;
        let weights = self.model.parameters().constants();
        Ok(self.model.distributions(&forced(tape, &weights, hook), batch)?)
    }

    /// log p of each target token of each copy of a batch, under a hook: `[copies, target tokens]`.
    pub(crate) fn log_probs(&self, batch: &Batch, hook: Option<&dyn AttentionHook>) -> Result<Rows> {
        self.go_on()?;
        let controls = Controls { hook, ..Controls::default() };
        let decoding = Decoding { controls, ..Decoding::new(self.model, self.threads) };
        let scores = decoding.score(&batch.source, &batch.target, None)?;
        Ok(scores.iter().map(|score| score.token_log_probs.iter().map(|&p| f64::from(p)).collect()).collect())
    }
}

/// The whole-sequence form as a trained model runs it; its loss is the sum of log p.
fn forced<'a>(tape: &'a Tape, weights: &'a [Var], hook: &'a dyn AttentionHook) -> Training<'a> {
    Training {
        tape,
        weights,
        noise: None,
        label_smoothing: 0.0,
        scored: Scored::All,
        factor: -1.0,
        hook: Some(hook),
    }
}
