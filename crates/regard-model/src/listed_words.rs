//! An output layer that computes the words of some lists only.

use std::sync::Arc;

use regard_tensor::{ColumnList, LogProbs, Tape, Tensor, TensorError, Var, ops};

use crate::error::Result;
use crate::seq2seq::Row;

/// The part of an output layer that writes what the sentences of a batch may write.
///
/// Its weights are those of all lists together, in the order of the ids: many rows are multiplied at once, and as a column
/// of a product does not depend on the others, a sentence's logits do not depend on the other sentences' lists.
#[derive(Clone, Debug)]
pub struct ListedWords {
    vocabulary: usize,
    /// One a sentence.
    lists: Vec<ColumnList>,
    weight: Var,
    bias: Option<Var>,
}

impl ListedWords {
    /// Of the output layer `weight [vocabulary, width]`, `bias [vocabulary]`, with a list a sentence.
    ///
    /// # Errors
    /// Where an id is outside of the vocabulary.
    pub(crate) fn new(tape: &Tape, weight: &Var, bias: Option<&Var>, lists: &[Vec<u32>]) -> Result<Self> {
        let mut ids = lists.concat();
        ids.sort_unstable();
        ids.dedup();
        let places: Vec<usize> = ids.iter().map(|&id| id as usize).collect();
        let part = weight.value().select_packed(tape.threads(), tape.precision(), &places)?;
        let bias = bias.map(|bias| {
            Var::constant(Tensor::build([places.len()], |values| {
                values.iter_mut().zip(&places).for_each(|(to, &place)| *to = bias.value().values()[place]);
            }))
        });
        let list = |list: &Vec<u32>| {
            let mut columns = list.clone();
            columns.sort_unstable();
            columns.dedup();
            let places = columns.iter().map(|id| ids.partition_point(|other| other < id));
            ColumnList { places: places.collect(), columns: Arc::from(columns.as_slice()) }
        };
        Ok(Self {
            vocabulary: weight.shape().rows(),
            lists: lists.iter().map(list).collect(),
            weight: Var::constant(part),
            bias,
        })
    }

    /// What may be written after `vectors [rows, width]`: probabilities over the list of each row's sentence.
    pub(crate) fn log_probs(&self, tape: &Tape, vectors: &Var, rows: &[Row]) -> Result<LogProbs> {
        let logits = ops::linear(tape, vectors, &self.weight, self.bias.as_ref())?;
        let list = |row: &Row| {
            let (index, limit) = (row.sentence, self.lists.len());
            self.lists.get(index).cloned().ok_or(TensorError::Index { op: "log_probs", index, limit })
        };
        let lists = rows.iter().map(list).collect::<std::result::Result<_, _>>()?;
        Ok(LogProbs::of_lists(tape.threads(), logits.value(), self.vocabulary, lists)?)
    }
}
