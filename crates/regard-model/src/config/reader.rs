//! A Transformer that reads for a recurrent writer.

use serde::{Deserialize, Serialize};

use super::transformer::Keys;
use super::{
    Activation, ContextKind, InitialState, Norm, NormPosition, Positions, RecurrentConfig, StackConfig,
    TransformerConfig, require,
};
use crate::error::Result;

/// The encoder of a Transformer in the place of the recurrent one (Chen et al. 2018, "The Best of Both Worlds"): all of
/// the source is read at once, and the writer still costs little a step. Its width is that of the embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReaderConfig {
    /// Layers.
    pub layers: usize,
    /// Heads of each attention, each `embedding / heads` wide.
    pub heads: usize,
    /// The inner width of the feed-forward layers.
    pub d_ff: usize,
    /// Word embeddings are multiplied by the root of their width.
    pub scale_embeddings: bool,
    /// How a word's place is told.
    pub positions: Positions,
    /// Rows of the table of `learned` positions; what stands further out has the place of the last row.
    pub max_positions: usize,
    /// The normalisation.
    pub norm: Norm,
    /// Where it stands.
    pub norm_position: NormPosition,
    /// The function of the feed-forward layers.
    pub activation: Activation,
    /// A second map, without a bias, goes through the function and lets the first one through.
    pub gated: bool,
    /// Dropout on attention weights.
    pub attention_dropout: f64,
    /// Dropout inside the feed-forward layers, after the function.
    pub feed_forward_dropout: f64,
}

impl Default for ReaderConfig {
    fn default() -> Self {
        let base = TransformerConfig::base();
        Self {
            layers: 4,
            heads: 4,
            d_ff: 512,
            scale_embeddings: base.scale_embeddings,
            positions: base.positions,
            max_positions: base.max_positions,
            norm: base.norm,
            norm_position: NormPosition::Pre,
            activation: base.activation,
            gated: base.gated,
            attention_dropout: base.attention_dropout,
            feed_forward_dropout: base.feed_forward_dropout,
        }
    }
}

impl RecurrentConfig {
    /// The Transformer whose encoder reads, where one does.
    pub(crate) fn reading_transformer(&self) -> Option<TransformerConfig> {
        let reader = self.reader?;
        let stack = StackConfig { layers: reader.layers, heads: reader.heads };
        Some(TransformerConfig {
            d_model: self.embedding,
            d_ff: reader.d_ff,
            scale_embeddings: reader.scale_embeddings,
            positions: reader.positions,
            max_positions: reader.max_positions,
            norm: reader.norm,
            norm_position: reader.norm_position,
            activation: reader.activation,
            gated: reader.gated,
            encoder: stack,
            decoder: stack,
            dropout: self.dropout,
            attention_dropout: reader.attention_dropout,
            feed_forward_dropout: reader.feed_forward_dropout,
            ..TransformerConfig::base()
        })
    }

    pub(super) fn check_reader(&self) -> Result<()> {
        let Some(transformer) = self.reading_transformer() else { return Ok(()) };
        transformer.check_as(&Keys { width: "embedding", own: "reader.", stacks: &["reader."] })?;
        let starts = [InitialState::Zero, InitialState::MeanBridge];
        require(starts.contains(&self.decoder.initial_state), || {
            "a Transformer that reads ends in no state: decoder.initial_state must be \"mean_bridge\" or \"zero\"".to_owned()
        })?;
        require(self.context == ContextKind::Attention, || {
            "a Transformer that reads leaves no vector of the whole source: context must be \"attention\""
                .to_owned()
        })?;
        require(!self.encoder.reverse_source && self.word_dropout == 0.0, || {
            "with a reader, encoder.reverse_source must be false and word_dropout 0".to_owned()
        })
    }
}
