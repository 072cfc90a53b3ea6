//! The configuration of a model: which family, and every piece of it a field.

mod preset;
mod reader;
mod recurrent;
mod recurrent_check;
mod transformer;

pub use preset::Preset;
pub use reader::ReaderConfig;
pub use recurrent::{
    AttentionConfig, Bidirectional, CellKind, ContextKind, ContextLayers, DecoderConfig, EncoderConfig,
    InitialState, LayerNorm, Query, QueryLayer, Readout, ReadoutState, RecurrentConfig, Score, Window,
};
pub use transformer::{Activation, Norm, NormPosition, Positions, StackConfig, TransformerConfig};

use regard_tensor::{Precision, Tensor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{ModelError, Result};
use crate::recurrent::RecurrentModel;
use crate::seq2seq::Seq2Seq;
use crate::transformer::TransformerModel;

/// An encoder-decoder of either family. Fixed at training; stored in `config.json`, where `family` says which it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "family", rename_all = "snake_case")]
pub enum ModelConfig {
    /// Cells that go from word to word.
    Recurrent(RecurrentConfig),
    /// Attention alone (Vaswani et al. 2017).
    Transformer(TransformerConfig),
}

/// What layer normalisation adds to the variance where nothing else is said, as in `PyTorch`.
const LAYER_NORM_EPSILON: f64 = 1e-5;

/// The families by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Family {
    /// What a configuration without the key is: the first models had no other family.
    #[default]
    Recurrent,
    Transformer,
}

/// How the decoder's looks at the source are weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrossAttention {
    /// As the scores say.
    #[default]
    Learned,
    /// All positions that may be attended to alike, whatever is asked: the baseline of Wiegreffe & Pinter (2019).
    Uniform,
}

impl CrossAttention {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_learned(&self) -> bool {
        *self == Self::Learned
    }
}

/// Which embeddings share their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TiedEmbeddings {
    /// None.
    None,
    /// The target embedding is the output layer (Press & Wolf 2017).
    TargetOutput,
    /// One table for source, target and output: needs one vocabulary.
    All,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Preset::Bahdanau.config()
    }
}

impl<'de> Deserialize<'de> for ModelConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut fields = serde_json::Map::deserialize(deserializer)?;
        let family = fields.remove("family").map(serde_json::from_value).transpose();
        let fields = serde_json::Value::Object(fields);
        family
            .and_then(|family| match family.unwrap_or_default() {
                Family::Recurrent => serde_json::from_value(fields).map(Self::Recurrent),
                Family::Transformer => serde_json::from_value(fields).map(Self::Transformer),
            })
            .map_err(serde::de::Error::custom)
    }
}

impl ModelConfig {
    /// Which embeddings share their weights.
    #[must_use]
    pub fn tied_embeddings(&self) -> TiedEmbeddings {
        match self {
            Self::Recurrent(config) => config.tied_embeddings,
            Self::Transformer(config) => config.tied_embeddings,
        }
    }

    /// How the decoder's looks at the source are weighed.
    #[must_use]
    pub fn cross_attention(&self) -> CrossAttention {
        match self {
            Self::Recurrent(config) => config.cross_attention,
            Self::Transformer(config) => config.cross_attention,
        }
    }

    /// Whether a model can be made from this configuration.
    ///
    /// # Errors
    /// With the field that is wrong and what it may be.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Recurrent(config) => config.check(),
            Self::Transformer(config) => config.check(),
        }
    }

    /// A network with fresh weights, drawn from `seed`, for vocabularies of these sizes.
    ///
    /// # Errors
    /// Where the configuration is impossible, or ties embeddings of vocabularies that differ.
    ///
    /// ```
    /// use regard_model::Preset;
    /// let model = Preset::TransformerTiny.config().build(100, 120, 1)?;
    /// assert!(model.has_attention());
    /// # Ok::<(), regard_model::ModelError>(())
    /// ```
    pub fn build(&self, source: usize, target: usize, seed: u64) -> Result<Box<dyn Seq2Seq>> {
        Ok(match self {
            Self::Recurrent(config) => Box::new(RecurrentModel::new(config, source, target, seed)?),
            Self::Transformer(config) => Box::new(TransformerModel::new(config, source, target, seed)?),
        })
    }

    /// A network with weights that are there already.
    ///
    /// # Errors
    /// As [`build`](Self::build); where the weights are not those of such a network.
    pub fn restore(
        &self,
        source: usize,
        target: usize,
        weights: Vec<(String, Tensor)>,
    ) -> Result<Box<dyn Seq2Seq>> {
        Ok(match self {
            Self::Recurrent(config) => {
                Box::new(RecurrentModel::with_weights(config, source, target, weights)?)
            }
            Self::Transformer(config) => {
                Box::new(TransformerModel::with_weights(config, source, target, weights)?)
            }
        })
    }

    /// The names of the weights of which a network for vocabularies of these sizes, run in a precision, need keep only what
    /// products read.
    pub(crate) fn maps(&self, source: usize, target: usize, precision: Precision) -> Vec<String> {
        match self {
            Self::Recurrent(config) => RecurrentModel::maps(config, (source, target), precision),
            Self::Transformer(config) => TransformerModel::maps(config, (source, target), precision),
        }
    }

    /// This configuration with the keys of `changes` (a nested object) replaced; the family stays.
    ///
    /// # Errors
    /// Where a key is unknown, a value has the wrong type, or the result is impossible.
    pub fn with_changes(&self, changes: &serde_json::Value) -> Result<Self> {
        let config_error = |error: serde_json::Error| ModelError::Config(error.to_string());
        let mut value = serde_json::to_value(self).map_err(config_error)?;
        let family = value["family"].clone();
        merge(&mut value, changes);
        require(value["family"] == family, || {
            format!("family = {} is not that of the preset, {family}; choose another preset", value["family"])
        })?;
        let config: Self = serde_json::from_value(value).map_err(config_error)?;
        config.check()?;
        Ok(config)
    }
}

fn merge(value: &mut serde_json::Value, changes: &serde_json::Value) {
    match (value, changes) {
        (serde_json::Value::Object(fields), serde_json::Value::Object(changes)) => {
            for (key, change) in changes {
                merge(fields.entry(key.clone()).or_insert(serde_json::Value::Null), change);
            }
        }
        (value, change) => *value = change.clone(),
    }
}

/// Refuses what could not keep a row of equal values from a division by zero.
fn check_epsilon(epsilon: Option<f64>) -> Result<()> {
    match epsilon {
        Some(epsilon) if !(epsilon > 0.0 && epsilon < 1.0) => {
            Err(ModelError::Config(format!("norm_epsilon = {epsilon} must be above 0 and below 1")))
        }
        _ => Ok(()),
    }
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(ModelError::Config(message())) }
}

#[cfg(test)]
mod tests {
    use regard_tensor::Precision;

    use super::Preset;

    #[test]
    fn a_table_that_is_the_output_layer_too_is_a_map_where_products_read_its_numbers() {
        for (preset, tied, table) in [
            (Preset::TransformerTiny, "all", "embedding.weight"),
            (Preset::TransformerTiny, "target_output", "target_embedding.weight"),
            (Preset::Bahdanau, "target_output", "target_embedding.weight"),
        ] {
            let changes = serde_json::json!({"tied_embeddings": tied});
            let config = preset.config().with_changes(&changes).unwrap();
            let maps = |precision| config.maps(11, 11, precision);
            assert!(maps(Precision::F32).iter().any(|name| name == table), "{preset:?}, {tied}");
            assert!(maps(Precision::Int8).iter().all(|name| name != table), "{preset:?}, {tied}");
            let untied =
                preset.config().with_changes(&serde_json::json!({"tied_embeddings": "none"})).unwrap();
            assert!(untied.maps(11, 11, Precision::F32).iter().all(|name| name != table));
        }
    }
}
