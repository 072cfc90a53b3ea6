//! The writer: every word looks back at the words before it, and at the source.
//!
//! One word of each hypothesis at a time, or all words of whole sentences: the difference is where the earlier words'
//! keys and values are ([`Past`]).

use regard_tensor::Var;
use regard_tensor::ops::{self, Span};
use regard_text::Padded;

use super::{Around, FeedForward, Normalization, Words};
use crate::attention::{AttentionSite, MultiHead, Reading, SiteKind};
use crate::config::TransformerConfig;
use crate::error::Result;
use crate::history::History;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::seq2seq::{Row, SiteAttention};

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
    pub(crate) layers: Vec<(Var, Var)>,
    /// Positions of each sentence.
    pub(crate) lengths: Vec<usize>,
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
    pub(crate) own: Vec<Var>,
    /// What each layer and head looked at, where it is wanted.
    pub(crate) attention: Vec<SiteAttention>,
}

impl Decoder {
    pub(crate) fn new(builder: &mut Builder, config: &TransformerConfig, table: ParameterId) -> Self {
        let words = Words::new(builder, "target_positions", config, table);
        let layers = (0..config.decoder.layers).map(|layer| {
            let mut part = |part: &str, kind| {
                let name = format!("decoder.{layer}.{part}");
                let attention = MultiHead::new(builder, &name, config, kind, layer);
                (attention, Around::new(builder, &name, config))
            };
            let own = part("self_attention", SiteKind::DecoderSelf);
            let cross = part("cross_attention", SiteKind::Cross);
            let feed_forward = FeedForward::new(builder, &format!("decoder.{layer}.feed_forward"), config);
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
        let layer = |layer: &Layer| layer.cross.0.keys_and_values(pass, states, &[]);
        let layers = self.layers.iter().map(layer).collect::<Result<_>>()?;
        Ok(SourceMemory { layers, lengths: lengths.to_vec() })
    }

    pub(crate) fn decode(&self, pass: &Pass, source: &SourceMemory, written: &Written) -> Result<Decoded> {
        let Written { rows, positions, past, .. } = *written;
        let back = Reach::back(written);
        let sentences: Vec<usize> = rows.iter().map(|row| row.sentence).collect();
        let length = |row: &Row| source.lengths.get(row.sentence).copied().unwrap_or(0);
        let spans = rows.iter().map(|row| Span { start: 0, end: length(row) }).collect();
        let across = Reach { entries: sentences, lengths: source.lengths.clone(), spans };
        let mut x = self.words.read(pass, written.ids, positions)?;
        let (mut kept, mut attention) = (Vec::new(), Vec::new());
        for (index, (layer, (keys, values))) in self.layers.iter().zip(&source.layers).enumerate() {
            let (own, around) = &layer.own;
            let input = around.input(pass, &x)?;
            let (own_keys, own_values) = own.keys_and_values(pass, &input, positions)?;
            let memory =
                (past.join(pass, 2 * index, &own_keys)?, past.join(pass, 2 * index + 1, &own_values)?);
            let queries = own.queries(pass, &input, positions)?;
            let reading = back.reading(rows, &source.lengths);
            let (y, seen) = own.attend(pass, &queries, (&memory.0, &memory.1), &reading)?;
            x = around.output(pass, &x, &y)?;
            attention.extend(seen);
            kept.extend([own_keys, own_values]);

            let (cross, around) = &layer.cross;
            let queries = cross.queries(pass, &around.input(pass, &x)?, positions)?;
            let reading = across.reading(rows, &source.lengths);
            let (y, seen) = cross.attend(pass, &queries, (keys, values), &reading)?;
            x = layer.feed_forward.apply(pass, &around.output(pass, &x, &y)?)?;
            attention.extend(seen);
        }
        if let Some(norm) = &self.norm {
            x = norm.apply(pass, &x)?;
        }
        Ok(Decoded { vectors: x, own: kept, attention })
    }
}

/// The entry that each row reads, the entries' lengths, and how far each row may look.
struct Reach {
    entries: Vec<usize>,
    lengths: Vec<usize>,
    spans: Vec<Span>,
}

impl Reach {
    /// Back at the row's own words, its last one included.
    fn back(written: &Written) -> Self {
        let rows = written.rows;
        match written.past {
            Past::Sentences(target) => Self {
                entries: rows.iter().map(|row| row.sentence).collect(),
                lengths: target.lengths.clone(),
                spans: rows
                    .iter()
                    .map(|row| Span { start: 0, end: (row.position + 1).min(target.lengths[row.sentence]) })
                    .collect(),
            },
            Past::History(history) => {
                let steps = history.len() + 1;
                Self {
                    entries: (0..rows.len()).collect(),
                    lengths: vec![steps; rows.len()],
                    spans: vec![Span { start: 0, end: steps }; rows.len()],
                }
            }
        }
    }

    fn reading<'a>(&'a self, rows: &'a [Row], source_lengths: &'a [usize]) -> Reading<'a> {
        let Self { entries, lengths, spans } = self;
        Reading { rows, entries, lengths, spans, source_lengths }
    }
}

impl Past<'_> {
    /// Keys or values of all words that a row may look back at, as entries `[entries, positions, width]`: tensor number
    /// `tensor` of the history, and the rows' own.
    fn join(self, pass: &Pass, tensor: usize, own: &Var) -> Result<Var> {
        Ok(match self {
            Past::Sentences(target) => {
                let shape = [target.rows(), target.width, own.shape().last()];
                ops::reshape(pass.tape, own, shape)?
            }
            Past::History(history) => Var::constant(history.gather(tensor, own.value())),
        })
    }
}
