//! Where the keys and values of an attention are.

use regard_tensor::ops::{self, Span, Trails};
use regard_tensor::{List, Var};

use crate::error::Result;
use crate::pass::Pass;

/// Keys and values, and which of them each row reads.
pub(crate) enum Sought<'a> {
    /// Whole sentences, the form of training and of the encoder: keys and values are `[entries, positions, width]`.
    Entries { keys: Var, values: Var, reach: &'a WholeReach },
    /// Rows that lie where they were made, the form of decoding: lists of blocks `[…, width]`.
    Trails { keys: Vec<&'a Var>, values: Vec<&'a Var>, trails: &'a Trails },
}

/// What the rows read of whole sentences.
pub(crate) struct WholeReach {
    /// The entry that each row reads.
    pub(crate) entries: List<usize>,
    /// Positions of each entry.
    pub(crate) lengths: List<usize>,
    /// The positions that each row may attend to.
    pub(crate) spans: List<Span>,
}

impl Sought<'_> {
    /// `factor · q · k`, zero where a row may not read: `queries` is `[rows, heads · width]`, the result
    /// `[heads, rows, positions]`.
    pub(super) fn scores(&self, pass: &Pass, queries: &Var, heads: usize, factor: f32) -> Result<Var> {
        Ok(match self {
            Self::Entries { keys, reach: WholeReach { entries, lengths, .. }, .. } => {
                ops::head_scores(pass.tape, (queries, keys), heads, factor, entries, lengths)?
            }
            Self::Trails { keys, trails, .. } => {
                ops::trail_scores(pass.tape, queries, keys, heads, factor, trails)?
            }
        })
    }

    /// The softmax over what each row may read, of scores and like them.
    pub(super) fn weights(&self, pass: &Pass, scores: &Var, heads: usize) -> Result<Var> {
        let spans = match self {
            Self::Entries { reach, .. } => reach.spans.repeat(heads),
            Self::Trails { trails, .. } => ops::trail_spans(heads, trails),
        };
        Ok(ops::masked_softmax(pass.tape, scores, &spans)?)
    }

    /// The sums of the values under weights `[heads, rows, positions]`: `[rows, heads · width]`.
    pub(super) fn contexts(&self, pass: &Pass, weights: &Var) -> Result<Var> {
        Ok(match self {
            Self::Entries { values, reach: WholeReach { entries, lengths, .. }, .. } => {
                ops::head_contexts(pass.tape, weights, values, entries, lengths)?
            }
            Self::Trails { values, trails, .. } => ops::trail_contexts(pass.tape, weights, values, trails)?,
        })
    }
}
