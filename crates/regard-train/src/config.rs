//! How a model is trained: the `[training]` table of a recipe.

use std::path::PathBuf;

use regard_model::CrossAttention;
use regard_tensor::Precision;
use regard_tensor::optim::Rule;
use regard_text::BatchSize;
use serde::{Deserialize, Serialize};

use crate::guided_alignment::GuidedAlignmentConfig;
use crate::sampling::SamplingConfig;
use crate::schedule::ScheduleConfig;

/// How a model is trained. One of `updates` and `epochs` must be given; where both are, the first to be reached ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingConfig {
    /// Updates of the weights.
    pub updates: Option<u64>,
    /// Passes over the data.
    pub epochs: Option<u64>,
    /// A batch has at most so many positions: rows × the longest row, padding included. 4,096 where neither size is
    /// given.
    pub batch_tokens: Option<usize>,
    /// A batch has at most so many pairs.
    pub batch_sentences: Option<usize>,
    /// Batches in an update. The last update of a pass over the data may have fewer.
    pub accumulate: usize,
    /// The probability mass that is spread evenly over the vocabulary.
    pub label_smoothing: f64,
    /// Gradients are scaled down to this common norm; 0 for never.
    pub clip_norm: f64,
    /// Updates between two reports.
    pub report_every: u64,
    /// Updates between two validations.
    pub validate_every: u64,
    /// Updates between two checkpoints.
    pub checkpoint_every: u64,
    /// How many checkpoints stay.
    pub keep_checkpoints: usize,
    /// The decay of the moving average of the weights, which is then what is validated and kept; 0 for none.
    pub ema: f64,
    /// What the products with weights are computed in.
    pub precision: TrainingPrecision,
    /// The weights that stay as they are: those with one of these names, or in a part with one of them, such as `encoder`
    /// or `decoder.0`.
    pub freeze: Vec<String>,
    /// How the model's looks at the source are weighed; as `[model]` or the first model has it where it is not given.
    pub attention: Option<CrossAttention>,
    /// A model to learn to say the same as while looking elsewhere (Wiegreffe & Pinter 2019).
    pub adversary_of: Option<PathBuf>,
    /// λ: what the divergence from that model's attention counts beside the distance from its words.
    pub adversary_lambda: f64,
    /// Links that attention learns to follow.
    pub guided_alignment: Option<GuidedAlignmentConfig>,
    /// What changes the weights.
    pub optimizer: OptimizerConfig,
    /// How the learning rate goes.
    pub schedule: ScheduleConfig,
    /// How often the decoder reads its own words.
    pub sampling: SamplingConfig,
}

/// What the products with weights are computed in, forward and backward. The weights themselves, the sums and all else are
/// f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainingPrecision {
    /// The numbers as they are.
    #[default]
    F32,
    /// Both sides rounded to the upper 16 bits: about twice as fast where the processor has instructions for it.
    Bf16,
}

impl TrainingPrecision {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    pub(crate) fn is_f32(&self) -> bool {
        *self == Self::F32
    }
}

impl std::fmt::Display for TrainingPrecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        })
    }
}

impl From<TrainingPrecision> for Precision {
    fn from(precision: TrainingPrecision) -> Self {
        match precision {
            TrainingPrecision::F32 => Self::F32,
            TrainingPrecision::Bf16 => Self::Bf16,
        }
    }
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            updates: None,
            epochs: None,
            batch_tokens: None,
            batch_sentences: None,
            accumulate: 1,
            label_smoothing: 0.1,
            clip_norm: 1.0,
            report_every: 50,
            validate_every: 500,
            checkpoint_every: 500,
            keep_checkpoints: 2,
            ema: 0.0,
            precision: TrainingPrecision::default(),
            freeze: Vec::new(),
            attention: None,
            adversary_of: None,
            adversary_lambda: 1e-3,
            guided_alignment: None,
            optimizer: OptimizerConfig::default(),
            schedule: ScheduleConfig::default(),
            sampling: SamplingConfig::default(),
        }
    }
}

impl TrainingConfig {
    /// When a batch is full.
    #[must_use]
    pub fn batch_size(&self) -> BatchSize {
        match (self.batch_tokens, self.batch_sentences) {
            (_, Some(sentences)) => BatchSize::Sentences(sentences),
            (tokens, None) => BatchSize::Tokens(tokens.unwrap_or(4096)),
        }
    }

    /// Refuses impossible values.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        self.check_counts()?;
        Problem::unless((0.0..1.0).contains(&self.label_smoothing), "label_smoothing", || {
            format!("{} must be at least 0 and below 1", self.label_smoothing)
        })?;
        Problem::unless(self.clip_norm >= 0.0 && self.clip_norm.is_finite(), "clip_norm", || {
            format!("{} must be a finite number above 0, or 0 for no clipping", self.clip_norm)
        })?;
        Problem::unless((0.0..1.0).contains(&self.ema), "ema", || {
            format!("{} must be above 0 and below 1, or 0 for no average", self.ema)
        })?;
        self.check_objective()?;
        self.optimizer.check()?;
        self.schedule.check(self.updates)?;
        self.sampling.check()
    }

    fn check_objective(&self) -> Result<(), Problem> {
        let uniform = self.attention == Some(CrossAttention::Uniform);
        if let Some(guide) = &self.guided_alignment {
            guide.check()?;
            Problem::unless(!uniform, "guided_alignment", || {
                "uniform attention cannot follow links: leave training.attention out".to_owned()
            })?;
        }
        let lambda = self.adversary_lambda;
        Problem::unless(lambda > 0.0 && lambda.is_finite(), "adversary_lambda", || {
            format!("{lambda} must be a finite number above 0")
        })?;
        let adversary = self.adversary_of.is_some();
        Problem::unless(!(adversary && self.guided_alignment.is_some()), "adversary_of", || {
            "an adversary looks elsewhere and follows no links: leave training.guided_alignment out"
                .to_owned()
        })?;
        Problem::unless(!(adversary && uniform), "adversary_of", || {
            "uniform attention cannot learn to look elsewhere: leave training.attention out".to_owned()
        })?;
        Problem::unless(!adversary || self.sampling == SamplingConfig::None, "adversary_of", || {
            "an adversary reads the words of the text: leave training.sampling out".to_owned()
        })
    }

    fn check_counts(&self) -> Result<(), Problem> {
        Problem::unless(self.updates.is_some() || self.epochs.is_some(), "updates", || {
            "give the length of the training, as updates or as epochs".to_owned()
        })?;
        Problem::unless(
            self.batch_tokens.is_none() || self.batch_sentences.is_none(),
            "batch_sentences",
            || "give batch_tokens or batch_sentences, not both".to_owned(),
        )?;
        let size = |size: Option<usize>| size.map_or(1, |size| size as u64);
        let counts = [
            ("updates", self.updates.unwrap_or(1)),
            ("epochs", self.epochs.unwrap_or(1)),
            ("batch_tokens", size(self.batch_tokens)),
            ("batch_sentences", size(self.batch_sentences)),
            ("accumulate", self.accumulate as u64),
            ("report_every", self.report_every),
            ("validate_every", self.validate_every),
            ("checkpoint_every", self.checkpoint_every),
            ("keep_checkpoints", self.keep_checkpoints as u64),
        ];
        counts.into_iter().try_for_each(|(key, count)| {
            Problem::unless(count > 0, key, || "0 must be at least 1".to_owned())
        })
    }
}

/// What changes the weights; the learning rate is the schedule's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum OptimizerConfig {
    /// Adam (Kingma & Ba 2015).
    Adam {
        /// Decay of the mean of gradients.
        #[serde(default = "default_beta1")]
        beta1: f64,
        /// Decay of the mean of squares.
        #[serde(default = "default_beta2")]
        beta2: f64,
        /// Added to the root of the mean of squares.
        #[serde(default = "default_epsilon")]
        epsilon: f64,
    },
    /// Adam with weight decay apart from the gradient (Loshchilov & Hutter 2019).
    #[serde(rename = "adamw")]
    AdamW {
        /// Decay of the mean of gradients.
        #[serde(default = "default_beta1")]
        beta1: f64,
        /// Decay of the mean of squares.
        #[serde(default = "default_beta2")]
        beta2: f64,
        /// Added to the root of the mean of squares.
        #[serde(default = "default_epsilon")]
        epsilon: f64,
        /// Each update takes learning rate · this of a weight away.
        #[serde(default = "default_weight_decay")]
        weight_decay: f64,
    },
    /// Stochastic gradient descent.
    Sgd {
        /// The part of the last change that is kept.
        #[serde(default)]
        momentum: f64,
    },
    /// Adadelta (Zeiler 2012); its learning rate is 1 in the paper.
    Adadelta {
        /// Decay of both means.
        #[serde(default = "default_rho")]
        rho: f64,
        /// Added under both roots.
        #[serde(default = "default_adadelta_epsilon")]
        epsilon: f64,
    },
}

fn default_beta1() -> f64 {
    0.9
}

fn default_beta2() -> f64 {
    0.999
}

fn default_epsilon() -> f64 {
    1e-8
}

fn default_weight_decay() -> f64 {
    0.01
}

fn default_rho() -> f64 {
    0.95
}

fn default_adadelta_epsilon() -> f64 {
    1e-6
}

impl Default for OptimizerConfig {
    /// Adam with the numbers of its paper.
    fn default() -> Self {
        Self::Adam { beta1: default_beta1(), beta2: default_beta2(), epsilon: default_epsilon() }
    }
}

impl OptimizerConfig {
    /// The rule with its numbers.
    #[must_use]
    pub fn rule(self) -> Rule {
        match self {
            Self::Adam { beta1, beta2, epsilon } => Rule::Adam { beta1, beta2, epsilon, weight_decay: 0.0 },
            Self::AdamW { beta1, beta2, epsilon, weight_decay } => {
                Rule::Adam { beta1, beta2, epsilon, weight_decay }
            }
            Self::Sgd { momentum } => Rule::Sgd { momentum },
            Self::Adadelta { rho, epsilon } => Rule::Adadelta { rho, epsilon },
        }
    }

    fn check(self) -> Result<(), Problem> {
        let decay = |key, value: f64| {
            Problem::unless((0.0..1.0).contains(&value), key, || {
                format!("{value} must be at least 0 and below 1")
            })
        };
        let positive = |key, value: f64| {
            Problem::unless(value > 0.0 && value.is_finite(), key, || {
                format!("{value} must be a finite number above 0")
            })
        };
        match self {
            Self::Sgd { momentum } => decay("optimizer.momentum", momentum),
            Self::Adadelta { rho, epsilon } => {
                decay("optimizer.rho", rho).and_then(|()| positive("optimizer.epsilon", epsilon))
            }
            Self::Adam { beta1, beta2, epsilon } | Self::AdamW { beta1, beta2, epsilon, .. } => {
                decay("optimizer.beta1", beta1)?;
                decay("optimizer.beta2", beta2)?;
                positive("optimizer.epsilon", epsilon)?;
                if let Self::AdamW { weight_decay, .. } = self {
                    decay("optimizer.weight_decay", weight_decay)?;
                }
                Ok(())
            }
        }
    }
}

/// A key whose value is impossible, and why.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The path of the key below its table.
    pub(crate) key: &'static str,
    /// The value and what is allowed.
    pub(crate) reason: String,
}

impl Problem {
    /// A problem with `key`, unless `holds`.
    pub(crate) fn unless(
        holds: bool,
        key: &'static str,
        reason: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { key, reason: reason() }) }
    }
}
