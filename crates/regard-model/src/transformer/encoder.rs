//! The reader: every word looks at every word of its sentence, layer by layer.

use regard_tensor::ops::{self, Span};
use regard_tensor::{List, Var};
use regard_text::Padded;

use super::{Around, FeedForward, Normalization, Words};
use crate::attention::{Asking, Block, BlockKind, MultiHead, Place, SiteKind, Sought, WholeReach};
use crate::config::TransformerConfig;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::seq2seq::{Row, SiteAttention, rows_of};

pub(crate) struct Encoder {
    words: Words,
    layers: Vec<Layer>,
    norm: Option<Normalization>,
}

struct Layer {
    attention: MultiHead,
    around: Around,
    feed_forward: FeedForward,
}

/// What the reader leaves.
pub(crate) struct Encoded {
    /// `[sentences, positions, width]`.
    pub(crate) states: Var,
    /// What each layer and head looked at, where it is wanted.
    pub(crate) attention: Vec<SiteAttention>,
}

impl Encoder {
    pub(crate) fn new(builder: &mut Builder, config: &TransformerConfig, table: ParameterId) -> Self {
        let words = Words::new(builder, Place::SourceWords, config, table);
        let layers = (0..config.encoder.layers).map(|layer| {
            let name = format!("encoder.{layer}.self_attention");
            let looks = Block { kind: BlockKind::Attention(SiteKind::EncoderSelf), layer };
            let thinks = Block { kind: BlockKind::EncoderFeedForward, layer };
            Layer {
                attention: MultiHead::new(builder, &name, config, SiteKind::EncoderSelf, layer),
                around: Around::new(builder, &name, config, looks),
                feed_forward: FeedForward::new(
                    builder,
                    &format!("encoder.{layer}.feed_forward"),
                    config,
                    thinks,
                ),
            }
        });
        let layers = layers.collect();
        Self { words, layers, norm: Normalization::last(builder, "encoder.norm", config) }
    }

    /// Reads rows of ids, each ended by the end symbol.
    pub(crate) fn encode(&self, pass: &Pass, source: &Padded) -> Result<Encoded> {
        let (sentences, width) = (source.rows(), source.width);
        let positions: List<usize> = (0..width).collect();
        let rows = rows_of(source);
        let whole = |row: &Row| Span { start: 0, end: source.lengths[row.sentence] };
        let reach = WholeReach {
            entries: rows.iter().map(|row| row.sentence).collect(),
            lengths: List::from(&source.lengths[..]),
            spans: rows.iter().map(whole).collect(),
        };
        let asking = Asking { rows: &rows, source_lengths: &source.lengths };
        let mut x = self.words.read(pass, &source.ids, &positions, &rows)?;
        let mut attention = Vec::new();
        for layer in &self.layers {
            let input = layer.around.input(pass, &x)?;
            let (keys, values) =
                layer.attention.keys_and_values(pass, &input, &positions, || rows.clone())?;
            let shape = [sentences, width, x.shape().last()];
            let keys = ops::reshape(pass.tape, &keys, shape)?;
            let values = ops::reshape(pass.tape, &values, shape)?;
            let queries = layer.attention.queries(pass, &input, &positions)?;
            let sought = Sought::Entries { keys, values, reach: &reach };
            let (y, seen) = layer.attention.attend(pass, &queries, &sought, &asking)?;
            x = layer.feed_forward.apply(pass, &layer.around.output(pass, &x, &y, &rows)?, &rows)?;
            attention.extend(seen);
        }
        if let Some(norm) = &self.norm {
            x = norm.apply(pass, &x)?;
        }
        for seen in &mut attention {
            seen.scores = seen.scores.reshape([sentences, width, width])?;
            seen.weights = seen.weights.reshape([sentences, width, width])?;
        }
        let states = ops::reshape(pass.tape, &x, [sentences, width, x.shape().last()])?;
        Ok(Encoded { states, attention })
    }
}
