//! The writer: every word looks back at the words before it, and at the source.
//!
//! One word of each hypothesis at a time, or all words of whole sentences: the difference is where the earlier words'
//! keys and values are ([`Past`]).

use regard_tensor::{List, Var};
use regard_text::Padded;

use super::reach::Reach;
use super::{Around, FeedForward, Normalization, Words};
use crate::attention::{Asking, AttentionSite, Block, BlockKind, MultiHead, Place, SiteKind};
use crate::config::TransformerConfig;
use crate::error::Result;
use crate::history::History;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::seq2seq::{Row, SiteAttention, rows_in};

pub(crate) struct Decoder {
    words: Words,
    layers: Vec<Layer>,
    norm: Option<Normalization>,
}

struct Layer {
    own: (MultiHead, Around),
    cross: (MultiHead, Around),
    feed_forward: FeedForward,
}

/// The encoded source as the decoder reads it.
pub(crate) struct SourceMemory {
    /// Keys and values of each layer, `[sentences, positions, width]`.
    pub(crate) layers: List<(Var, Var)>,
    /// Positions of each sentence.
    pub(crate) lengths: List<usize>,
}

impl SourceMemory {
    /// Positions of a sentence; 0 where it is not there.
    pub(super) fn length(&self, sentence: usize) -> usize {
        self.lengths.get(sentence).copied().unwrap_or(0)
    }

    /// Positions of all sentences, padding included.
    pub(super) fn positions(&self) -> usize {
        self.layers.first().map_or(0, |(keys, _)| keys.shape().inner().first())
    }
}

/// Where the keys and values of the words before are.
#[derive(Clone, Copy)]
pub(crate) enum Past<'a> {
    /// Beside their own: the rows are all places of these sentences.
    Sentences(&'a Padded),
    /// In what earlier steps left: the rows are hypotheses.
    History(&'a History),
}

/// What comes in: ids and what each row is; the rows have the `positions` in turn.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) ids: &'a [u32],
    pub(crate) rows: &'a [Row],
    pub(crate) positions: &'a [usize],
    pub(crate) past: Past<'a>,
}

/// What the writer leaves.
pub(crate) struct Decoded {
    /// `[rows, width]`, for the output layer.
    pub(crate) vectors: Var,
    /// Keys and values of the rows' own words, layer by layer.
    pub(crate) own: List<Var>,
    /// What each layer and head looked at, where it is wanted.
    pub(crate) attention: Vec<SiteAttention>,
}

impl Decoder {
    pub(crate) fn new(builder: &mut Builder, config: &TransformerConfig, table: ParameterId) -> Self {
        let words = Words::new(builder, Place::TargetWords, config, table);
        let layers = (0..config.decoder.layers).map(|layer| {
            let mut part = |part: &str, kind| {
                let name = format!("decoder.{layer}.{part}");
                let attention = MultiHead::new(builder, &name, config, kind, layer);
                let block = Block { kind: BlockKind::Attention(kind), layer };
                (attention, Around::new(builder, &name, config, block))
            };
            let own = part("self_attention", SiteKind::DecoderSelf);
            let cross = part("cross_attention", SiteKind::Cross);
            let block = Block { kind: BlockKind::DecoderFeedForward, layer };
            let feed_forward =
                FeedForward::new(builder, &format!("decoder.{layer}.feed_forward"), config, block);
            Layer { own, cross, feed_forward }
        });
        let layers = layers.collect();
        Self { words, layers, norm: Normalization::last(builder, "decoder.norm", config) }
    }

    pub(crate) fn layers(&self) -> usize {
        self.layers.len()
    }

    /// Every head that looks at the source.
    pub(crate) fn cross_sites(&self) -> impl Iterator<Item = AttentionSite> {
        self.layers.iter().flat_map(|layer| layer.cross.0.all_sites())
    }

    /// What every layer needs of the encoded source, computed once.
    pub(crate) fn memory(&self, pass: &Pass, states: &Var, lengths: &[usize]) -> Result<SourceMemory> {
        let rows = || rows_in(states.shape().first(), states.shape().inner().first());
        let layer = |layer: &Layer| layer.cross.0.keys_and_values(pass, states, &[], rows);
        let layers = self.layers.iter().map(layer).collect::<Result<_>>()?;
        Ok(SourceMemory { layers, lengths: List::from(lengths) })
    }

    pub(crate) fn decode(&self, pass: &Pass, source: &SourceMemory, written: &Written) -> Result<Decoded> {
        let Written { rows, positions, .. } = *written;
        let reach = Reach::new(source, written);
        let asking = Asking { rows, source_lengths: &source.lengths };
        let mut x = self.words.read(pass, written.ids, positions, rows)?;
        let (mut kept, mut attention) = (List::default(), Vec::new());
        for (index, (layer, (keys, values))) in self.layers.iter().zip(&source.layers).enumerate() {
            let (own, around) = &layer.own;
            let input = around.input(pass, &x)?;
            let (own_keys, own_values) = own.keys_and_values(pass, &input, positions, || List::from(rows))?;
            let queries = own.queries(pass, &input, positions)?;
            let back = reach.back(pass, index, (&own_keys, &own_values))?;
            let (y, seen) = own.attend(pass, &queries, &back, &asking)?;
            x = around.output(pass, &x, &y, rows)?;
            attention.extend(seen);
            kept.extend([own_keys, own_values]);

            let (cross, around) = &layer.cross;
            let queries = cross.queries(pass, &around.input(pass, &x)?, positions)?;
            let (y, seen) = cross.attend(pass, &queries, &reach.across(keys, values), &asking)?;
            x = layer.feed_forward.apply(pass, &around.output(pass, &x, &y, rows)?, rows)?;
            attention.extend(seen);
        }
        if let Some(norm) = &self.norm {
            x = norm.apply(pass, &x)?;
        }
        Ok(Decoded { vectors: x, own: kept, attention })
    }
}
