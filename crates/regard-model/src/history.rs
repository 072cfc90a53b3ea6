//! What hypotheses leave behind, step after step, such as the keys and values of a decoder's self-attention.

use std::sync::Arc;

use regard_tensor::{Tensor, TensorError};

use crate::error::Result;

/// Tensors of all steps so far. They are never copied: a hypothesis is a trail of rows through them, and beams are
/// re-ordered by exchanging trails.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Of each step: tensors whose rows are the hypotheses that there were then.
    steps: Vec<Arc<[Tensor]>>,
    /// Of each hypothesis: its row in each step.
    trails: Vec<Vec<usize>>,
}

impl History {
    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there was no step yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The history in which hypothesis `i` continues what was `parents[i]`.
    ///
    /// # Errors
    /// Where a parent is not there.
    pub fn select(&self, parents: &[usize]) -> Result<Self> {
        if self.is_empty() {
            return Ok(Self::default());
        }
        let trail = |&index: &usize| {
            let trail = self.trails.get(index).cloned();
            trail.ok_or(TensorError::Index { op: "select", index, limit: self.trails.len() })
        };
        Ok(Self {
            steps: self.steps.clone(),
            trails: parents.iter().map(trail).collect::<std::result::Result<_, _>>()?,
        })
    }

    /// Whether so many hypotheses can take the next step, each of them leaving `tensors` tensors.
    pub(crate) fn fits(&self, rows: usize, tensors: usize) -> bool {
        self.steps.last().is_none_or(|step| self.trails.len() == rows && step.len() == tensors)
    }

    /// The history after one more step, of which hypothesis `i` left the rows `i`.
    pub(crate) fn with(&self, step: Vec<Tensor>) -> Self {
        let mut next = self.clone();
        let rows = step.first().map_or(0, |tensor| tensor.shape().rows());
        next.trails.resize(rows, Vec::new());
        for (row, trail) in next.trails.iter_mut().enumerate() {
            trail.push(row);
        }
        next.steps.push(step.into());
        next
    }

    /// Tensor number `tensor` of every step, the one of `newest` behind them: `[hypotheses, steps + 1, width]`.
    pub(crate) fn gather(&self, tensor: usize, newest: &Tensor) -> Tensor {
        let (rows, steps, width) = (newest.shape().rows(), self.steps.len() + 1, newest.shape().last());
        Tensor::build([rows, steps, width], |out| {
            for (row, out) in out.chunks_exact_mut((steps * width).max(1)).enumerate() {
                let trail = self.trails.get(row).map_or(&[][..], Vec::as_slice);
                let past = self.steps.iter().zip(trail).map(|(step, &place)| step[tensor].row(place));
                for (out, from) in out.chunks_exact_mut(width.max(1)).zip(past.chain([newest.row(row)])) {
                    out.copy_from_slice(from);
                }
            }
        })
    }
}
