//! What decides the course of a run, apart from its model and its length: a run that resumes must not change it.

use regard_text::{BatchSize, PairSource};
use serde::{Deserialize, Serialize};

use crate::config::{OptimizerConfig, TrainingConfig, TrainingPrecision};
use crate::error::{Result, TrainError};
use crate::sampling::SamplingConfig;

/// What decides the order of the data, the noise, and the meaning of the stored memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The seed.
    pub seed: u64,
    /// The number of training pairs.
    pub pairs: usize,
    /// CRC-32C of all their ids.
    pub pairs_crc32c: u32,
    /// Pairs and weight of each corpus; empty for one that weighs 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corpora: Vec<(usize, f64)>,
    /// How the text is cut anew in each epoch, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resampling: Option<String>,
    /// What is made small, where it is not −log p of the right words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// When a batch is full.
    pub batch: String,
    /// Batches in an update.
    pub accumulate: usize,
    /// What changes the weights.
    pub optimizer: OptimizerConfig,
    /// The decay of the moving average; 0 for none.
    pub ema: f64,
    /// What products are computed in.
    #[serde(default, skip_serializing_if = "TrainingPrecision::is_f32")]
    pub precision: TrainingPrecision,
    /// The weights that stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freeze: Vec<String>,
    /// The probability mass that is spread evenly over the vocabulary.
    pub label_smoothing: f64,
    /// The norm that gradients are scaled down to; 0 for never.
    pub clip_norm: f64,
    /// How often the decoder reads its own words.
    pub sampling: SamplingConfig,
}

impl Identity {
    /// The identity of a run.
    ///
    /// # Errors
    /// Where the pairs cannot be read.
    pub fn new(seed: u64, config: &TrainingConfig, pairs: &(impl PairSource + ?Sized)) -> Result<Self> {
        let batch = match config.batch_size() {
            BatchSize::Tokens(limit) => format!("{limit} tokens"),
            BatchSize::Sentences(limit) => format!("{limit} sentences"),
        };
        let parts = pairs.parts();
        let is_plain = parts.iter().all(|part| part.weight.to_bits() == 1.0_f64.to_bits());
        let corpora =
            if is_plain { Vec::new() } else { parts.iter().map(|part| (part.pairs, part.weight)).collect() };
        let (pairs_crc32c, pairs) = (pairs.checksum()?, pairs.len());
        let TrainingConfig { accumulate, optimizer, ema, label_smoothing, clip_norm, sampling, .. } = *config;
        Ok(Self {
            seed,
            pairs,
            pairs_crc32c,
            corpora,
            resampling: None,
            objective: None,
            batch,
            accumulate,
            optimizer,
            ema,
            precision: config.precision,
            freeze: config.freeze.clone(),
            label_smoothing,
            clip_norm,
            sampling,
        })
    }

    /// Refuses to go on as `now` what began as `self`.
    ///
    /// # Errors
    /// With the first difference.
    pub fn check(&self, now: &Self) -> Result<()> {
        let differ = |what, stored: String, given: String| {
            if stored == given { Ok(()) } else { Err(TrainError::OtherRun { what, stored, given }) }
        };
        differ("seed", self.seed.to_string(), now.seed.to_string())?;
        differ("number of training pairs", self.pairs.to_string(), now.pairs.to_string())?;
        differ(
            "checksum of the training pairs",
            self.pairs_crc32c.to_string(),
            now.pairs_crc32c.to_string(),
        )?;
        differ("corpora (pairs, weight)", format!("{:?}", self.corpora), format!("{:?}", now.corpora))?;
        let or = |of: &Option<String>, otherwise: &str| of.clone().unwrap_or_else(|| otherwise.to_owned());
        differ("resampling", or(&self.resampling, "none"), or(&now.resampling, "none"))?;
        differ("objective", or(&self.objective, "likelihood"), or(&now.objective, "likelihood"))?;
        differ("batch size", self.batch.clone(), now.batch.clone())?;
        differ("accumulate", self.accumulate.to_string(), now.accumulate.to_string())?;
        differ("optimizer", format!("{:?}", self.optimizer), format!("{:?}", now.optimizer))?;
        differ("ema", self.ema.to_string(), now.ema.to_string())?;
        differ("precision", self.precision.to_string(), now.precision.to_string())?;
        differ("freeze", format!("{:?}", self.freeze), format!("{:?}", now.freeze))?;
        differ("label_smoothing", self.label_smoothing.to_string(), now.label_smoothing.to_string())?;
        differ("clip_norm", self.clip_norm.to_string(), now.clip_norm.to_string())?;
        differ("sampling", format!("{:?}", self.sampling), format!("{:?}", now.sampling))
    }
}
