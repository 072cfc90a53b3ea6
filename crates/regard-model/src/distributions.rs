//! What a model expects at every place of given targets.

use regard_tensor::{List, Var};
use regard_text::Padded;

use crate::seq2seq::Row;

/// The distributions of the next token under teacher forcing, at every place of a batch.
#[derive(Clone, Debug)]
pub struct Distributions {
    /// Natural-log probabilities: `[…, vocabulary]`, a row for each place.
    pub log_probs: Var,
    /// What each row is, in the same order: the order in which a hook sees the rows of the decoder.
    pub rows: List<Row>,
}

impl Distributions {
    /// Whether each row is a place of the target; the others are padding.
    #[must_use]
    pub fn counts(&self, target: &Padded) -> List<bool> {
        self.rows.iter().map(|row| row.position < target.lengths[row.sentence]).collect()
    }
}
