//! The configuration of a recurrent encoder-decoder: every piece a field.

use serde::{Deserialize, Deserializer, Serialize};

use super::{CrossAttention, LAYER_NORM_EPSILON, ReaderConfig, TiedEmbeddings};

/// A recurrent encoder-decoder. Fixed at training; stored in `config.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecurrentConfig {
    /// The recurrent cell of encoder and decoder.
    pub cell: CellKind,
    /// Where layer normalisation stands (Ba et al. 2016).
    pub layer_norm: LayerNorm,
    /// What it adds to the variance; 1e-5 where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm_epsilon: Option<f64>,
    /// The width of word embeddings, on both sides.
    pub embedding: usize,
    /// Which embeddings share their weights.
    pub tied_embeddings: TiedEmbeddings,
    /// The reader.
    pub encoder: EncoderConfig,
    /// A Transformer that reads in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<ReaderConfig>,
    /// The writer.
    pub decoder: DecoderConfig,
    /// Layers from this one on (counted from 1) add their input to their output; 0 for none.
    pub residual_from: usize,
    /// How the writer comes to know the source.
    pub context: ContextKind,
    /// The attention, where `context` is `attention`.
    pub attention: AttentionConfig,
    /// How the decoder's looks at the source are weighed.
    #[serde(default, skip_serializing_if = "CrossAttention::is_learned")]
    pub cross_attention: CrossAttention,
    /// Dropout on embeddings, between layers and before the output layer.
    pub dropout: f64,
    /// Dropout on the recurrent state, one mask for all time steps (Gal & Ghahramani 2016).
    pub recurrent_dropout: f64,
    /// Dropout of whole words of both sides.
    pub word_dropout: f64,
}

/// A recurrent cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// Long short-term memory.
    Lstm,
    /// Gated recurrent unit, the reset gate applied after the product (`PyTorch`, Keras, Marian).
    GruResetAfter,
    /// Gated recurrent unit, the reset gate applied before the product (Cho, Bahdanau).
    GruResetBefore,
}

/// Where layer normalisation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerNorm {
    /// Nowhere; `false` in older files.
    None,
    /// Inside the cells; `true` in older files.
    Cells,
    /// There and on the maps of additive attention, of the first state and of the readout, one for each input (Marian's
    /// `--layer-normalization`). Its own bias takes the place of theirs.
    Everywhere,
}

impl<'de> Deserialize<'de> for LayerNorm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        match (value.as_bool(), value.as_str()) {
            (Some(false), _) | (_, Some("none")) => Ok(Self::None),
            (Some(true), _) | (_, Some("cells")) => Ok(Self::Cells),
            (_, Some("everywhere")) => Ok(Self::Everywhere),
            _ => {
                let message =
                    format!("layer_norm = {value}; it may be \"none\", \"cells\" or \"everywhere\"");
                Err(serde::de::Error::custom(message))
            }
        }
    }
}

/// The reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig {
    /// Layers.
    pub layers: usize,
    /// The width of the state, in each direction.
    pub hidden: usize,
    /// Which layers read in both directions.
    pub bidirectional: Bidirectional,
    /// The source words are read last to first, the end symbol still last (Sutskever et al. 2014).
    pub reverse_source: bool,
}

/// Which layers of the encoder read in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bidirectional {
    /// None.
    None,
    /// The lowest one (GNMT).
    Bottom,
    /// All, each reading both directions of the one below.
    All,
    /// All, in two stacks, one for each direction, whose tops stand side by side (Marian's `--enc-type bidirectional`).
    Stacks,
}

/// The writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecoderConfig {
    /// Layers.
    pub layers: usize,
    /// The width of the state.
    pub hidden: usize,
    /// Where the first state comes from.
    pub initial_state: InitialState,
    /// The last readout vector is an input of the next step (Luong et al. 2015, section 3.3).
    pub input_feeding: bool,
    /// Which layers get the context as an input, where it is known before them.
    pub context_layers: ContextLayers,
    /// What stands between the state and the output layer.
    pub readout: Readout,
    /// Which state the readout sees.
    pub readout_state: ReadoutState,
    /// The width of the readout vector; `linear` has the width of the state, `concat` of state and context.
    pub readout_width: usize,
}

/// Where the decoder's first state comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InitialState {
    /// Zeros.
    Zero,
    /// The last state of the encoder, layer by layer: both directions side by side where that fits, else the backward one.
    Last,
    /// tanh of a learned map of the top encoder layer's last states.
    Bridge,
    /// tanh of a learned map of the state in which the top layer's backward reader ends (Bahdanau et al. 2015).
    BackwardBridge,
    /// tanh of a learned map of the mean of the top layer's states (Nematus, Marian).
    MeanBridge,
}

/// Which decoder layers get the context as an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextLayers {
    /// The lowest one.
    First,
    /// All (GNMT).
    All,
}

/// What stands between the decoder's state and the output layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readout {
    /// Nothing: the output of this step's top layer, whatever `readout_state` says.
    Linear,
    /// State and context side by side: the output layer sees both.
    Concat,
    /// tanh(W [state; context]) (Luong et al. 2015).
    Attentional,
    /// tanh(W [state; last word; context] + b).
    Tanh,
    /// The larger of two neighbours of W [state; last word; context] + b (Bahdanau et al. 2015, Cho et al. 2014).
    Maxout,
}

/// Which state of the top decoder layer the readout sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadoutState {
    /// The one before this step (Bahdanau).
    Previous,
    /// The one of this step.
    Current,
}

/// How the decoder comes to know the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// By its first state alone (Sutskever et al. 2014).
    Once,
    /// One vector, the encoder's last state, at every step (Cho et al. 2014).
    EveryStep,
    /// A weighted average of all encoder states, anew at every step.
    Attention,
}

/// A soft lookup of encoder states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttentionConfig {
    /// How well a state fits the query.
    pub score: Score,
    /// The width of the small network of `additive` and `concat`.
    pub width: usize,
    /// `additive` and `concat` add a bias to the query's map (OpenNMT, Marian).
    pub bias: bool,
    /// Which state asks.
    pub query: Query,
    /// Of which decoder layer.
    pub query_layer: QueryLayer,
    /// Which positions are looked at.
    pub window: Window,
    /// D: a local window reaches from p - D to p + D.
    pub radius: usize,
}

/// A scoring function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// v · tanh(W q + U h) (Bahdanau et al. 2015).
    Additive,
    /// q · h.
    Dot,
    /// q · h / √width (Vaswani et al. 2017).
    ScaledDot,
    /// q · W h (Luong et al. 2015).
    General,
    /// v · tanh(W [q; h]) (Luong et al. 2015): the additive score, its two maps written as one.
    Concat,
}

/// Which state of the decoder asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Query {
    /// The one before this step: the context is an input of the step.
    Previous,
    /// The one of this step: the context joins in the readout, and in the layers above.
    Current,
    /// The one between the two halves of a conditional cell (Nematus, Marian).
    Intermediate,
}

/// The decoder layer whose state asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryLayer {
    /// The lowest.
    Bottom,
    /// The highest.
    Top,
}

/// Which source positions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// All.
    Global,
    /// Around p = t, no further than the last position (Luong's local-m).
    LocalM,
    /// Around p = S · σ(v · tanh(W q)), weights times a Gaussian of σ = D/2 (Luong's local-p).
    LocalP,
}

impl RecurrentConfig {
    /// The width of the top encoder layer's output, which is what attention reads.
    #[must_use]
    pub fn memory_width(&self) -> usize {
        match self.reader {
            Some(_) => self.embedding,
            None => self.encoder.width(self.encoder.layers.saturating_sub(1)),
        }
    }

    /// The width of the vector that goes into the output layer.
    #[must_use]
    pub fn readout_width(&self) -> usize {
        match self.decoder.readout {
            Readout::Linear => self.decoder.hidden,
            Readout::Concat => self.decoder.hidden + self.memory_width(),
            _ => self.decoder.readout_width,
        }
    }
}

/// What its normalisations add to the variance, where they are there.
impl RecurrentConfig {
    /// Inside the cells.
    #[must_use]
    pub fn cell_norm(&self) -> Option<f64> {
        let epsilon = self.norm_epsilon.unwrap_or(LAYER_NORM_EPSILON);
        (self.layer_norm != LayerNorm::None).then_some(epsilon)
    }

    /// On the maps outside of them.
    #[must_use]
    pub fn map_norm(&self) -> Option<f64> {
        self.cell_norm().filter(|_| self.layer_norm == LayerNorm::Everywhere)
    }
}

impl EncoderConfig {
    /// Whether a layer reads in both directions.
    #[must_use]
    pub fn is_bidirectional(&self, layer: usize) -> bool {
        match self.bidirectional {
            Bidirectional::None => false,
            Bidirectional::Bottom => layer == 0,
            Bidirectional::All | Bidirectional::Stacks => true,
        }
    }

    /// The width of a layer's output: both directions side by side.
    #[must_use]
    pub fn width(&self, layer: usize) -> usize {
        if self.is_bidirectional(layer) { 2 * self.hidden } else { self.hidden }
    }

    /// The width of what each direction of a layer reads, where words are `embedding` wide.
    #[must_use]
    pub fn input_width(&self, layer: usize, embedding: usize) -> usize {
        match layer.checked_sub(1) {
            None => embedding,
            Some(_) if self.bidirectional == Bidirectional::Stacks => self.hidden,
            Some(below) => self.width(below),
        }
    }
}

/// Configurations as papers have them, at a size that trains on a CPU.
impl RecurrentConfig {
    /// A bidirectional GRU and additive attention by the previous state (Bahdanau et al. 2015).
    #[must_use]
    pub fn bahdanau() -> Self {
        Self {
            cell: CellKind::GruResetBefore,
            layer_norm: LayerNorm::None,
            norm_epsilon: None,
            embedding: 256,
            tied_embeddings: TiedEmbeddings::None,
            reader: None,
            encoder: EncoderConfig {
                layers: 1,
                hidden: 256,
                bidirectional: Bidirectional::All,
                reverse_source: false,
            },
            decoder: DecoderConfig {
                layers: 1,
                hidden: 256,
                initial_state: InitialState::BackwardBridge,
                input_feeding: false,
                context_layers: ContextLayers::First,
                readout: Readout::Maxout,
                readout_state: ReadoutState::Previous,
                readout_width: 256,
            },
            residual_from: 0,
            context: ContextKind::Attention,
            attention: AttentionConfig {
                score: Score::Additive,
                width: 256,
                bias: false,
                query: Query::Previous,
                query_layer: QueryLayer::Top,
                window: Window::Global,
                radius: 10,
            },
            dropout: 0.2,
            recurrent_dropout: 0.0,
            word_dropout: 0.0,
            cross_attention: CrossAttention::Learned,
        }
    }

    /// A GRU whose last state is an input of every step and of a maxout output (Cho et al. 2014).
    #[must_use]
    pub fn cho() -> Self {
        let base = Self::bahdanau();
        Self {
            encoder: EncoderConfig { bidirectional: Bidirectional::None, ..base.encoder },
            decoder: DecoderConfig {
                initial_state: InitialState::Bridge,
                readout_state: ReadoutState::Current,
                ..base.decoder
            },
            context: ContextKind::EveryStep,
            ..base
        }
    }

    /// Four LSTM layers, the source reversed, all states handed over once (Sutskever et al. 2014).
    #[must_use]
    pub fn sutskever() -> Self {
        let base = Self::bahdanau();
        Self {
            cell: CellKind::Lstm,
            encoder: EncoderConfig {
                layers: 4,
                hidden: 256,
                bidirectional: Bidirectional::None,
                reverse_source: true,
            },
            decoder: DecoderConfig {
                layers: 4,
                initial_state: InitialState::Last,
                readout: Readout::Linear,
                readout_state: ReadoutState::Current,
                ..base.decoder
            },
            context: ContextKind::Once,
            ..base
        }
    }

    /// LSTM layers, `general` attention by the current state, input feeding (Luong et al. 2015).
    #[must_use]
    pub fn luong() -> Self {
        let base = Self::bahdanau();
        Self {
            cell: CellKind::Lstm,
            encoder: EncoderConfig {
                layers: 2,
                hidden: 256,
                bidirectional: Bidirectional::None,
                reverse_source: true,
            },
            decoder: DecoderConfig {
                layers: 2,
                initial_state: InitialState::Last,
                input_feeding: true,
                readout: Readout::Attentional,
                readout_state: ReadoutState::Current,
                ..base.decoder
            },
            attention: AttentionConfig { score: Score::General, query: Query::Current, ..base.attention },
            ..base
        }
    }

    /// A Transformer's encoder of four layers and a GRU of one, which asks by its intermediate state (Chen et al. 2018).
    #[must_use]
    pub fn transformer_reader() -> Self {
        let base = Self::bahdanau();
        Self {
            cell: CellKind::GruResetAfter,
            reader: Some(ReaderConfig::default()),
            decoder: DecoderConfig {
                initial_state: InitialState::MeanBridge,
                readout: Readout::Tanh,
                readout_state: ReadoutState::Current,
                ..base.decoder
            },
            attention: AttentionConfig { query: Query::Intermediate, ..base.attention },
            ..base
        }
    }

    /// Eight and eight LSTM layers, residual from the third, attention by the bottom layer's last output (Wu et al. 2016).
    #[must_use]
    pub fn gnmt() -> Self {
        let base = Self::bahdanau();
        Self {
            cell: CellKind::Lstm,
            encoder: EncoderConfig {
                layers: 8,
                hidden: 256,
                bidirectional: Bidirectional::Bottom,
                reverse_source: false,
            },
            decoder: DecoderConfig {
                layers: 8,
                initial_state: InitialState::Last,
                context_layers: ContextLayers::All,
                readout: Readout::Linear,
                readout_state: ReadoutState::Current,
                ..base.decoder
            },
            residual_from: 3,
            attention: AttentionConfig { query_layer: QueryLayer::Bottom, ..base.attention },
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Preset;

    #[test]
    fn layer_norm_may_be_written_as_in_older_files() {
        for (written, meant) in [
            (json!(false), LayerNorm::None),
            (json!(true), LayerNorm::Cells),
            (json!("none"), LayerNorm::None),
            (json!("cells"), LayerNorm::Cells),
            (json!("everywhere"), LayerNorm::Everywhere),
        ] {
            assert_eq!(serde_json::from_value::<LayerNorm>(written).unwrap(), meant);
        }
        let error = serde_json::from_value::<LayerNorm>(json!("cell")).unwrap_err().to_string();
        assert_eq!(error, "layer_norm = \"cell\"; it may be \"none\", \"cells\" or \"everywhere\"");
    }

    #[test]
    fn an_epsilon_must_keep_from_a_division_by_zero() {
        for preset in [Preset::Bahdanau, Preset::TransformerTiny] {
            assert!(preset.config().with_changes(&json!({ "norm_epsilon": 1e-9 })).is_ok());
            for epsilon in [0.0, -1e-5, 1.0] {
                let error = preset.config().with_changes(&json!({ "norm_epsilon": epsilon })).unwrap_err();
                assert!(error.to_string().contains("must be above 0 and below 1"), "{error}");
            }
        }
    }
}
