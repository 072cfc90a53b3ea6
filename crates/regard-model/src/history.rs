//! What hypotheses leave behind, step after step, such as the keys and values of a decoder's self-attention.

use std::sync::Arc;

use regard_tensor::ops::Trails;
use regard_tensor::{TensorError, Var};

use crate::error::Result;

/// Tensors of all steps so far. They are never copied: a hypothesis is a trail of rows through them, and beams are
/// re-ordered by exchanging trails.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Of each step: tensors whose rows are the hypotheses that there were then.
    steps: Vec<Arc<[Var]>>,
    /// Its row in each step, hypothesis after hypothesis.
    trails: Vec<usize>,
    /// The hypotheses that there are now.
    rows: usize,
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
        if let Some(&index) = parents.iter().find(|&&parent| parent >= self.rows) {
            return Err(TensorError::Index { op: "select", index, limit: self.rows }.into());
        }
        Ok(Self {
            steps: self.steps.clone(),
            trails: parents.iter().flat_map(|&parent| self.trail(parent)).copied().collect(),
            rows: parents.len(),
        })
    }

    /// Whether so many hypotheses can take the next step, each of them leaving `tensors` tensors.
    pub(crate) fn fits(&self, rows: usize, tensors: usize) -> bool {
        self.steps.last().is_none_or(|step| self.rows == rows && step.len() == tensors)
    }

    /// The history after one more step, of which hypothesis `i` left the rows `i`.
    pub(crate) fn with(&self, step: Vec<Var>) -> Self {
        let rows = step.first().map_or(0, |var| var.shape().rows());
        let trail = |row| self.trail(row).iter().copied().chain([row]);
        let trails = (0..rows).flat_map(trail).collect();
        let steps = self.steps.iter().cloned().chain([step.into()]).collect();
        Self { steps, trails, rows }
    }

    /// What so many hypotheses read: their rows of every step, and row `i` of the step that they take.
    pub(crate) fn trails(&self, rows: usize) -> Trails {
        let mut trails = Trails::default();
        for row in 0..rows {
            let newest = (self.len(), row);
            trails.push(self.trail(row).iter().copied().enumerate().chain([newest]));
        }
        trails
    }

    /// Tensor number `tensor` of every step, the newest behind them.
    pub(crate) fn blocks<'a>(&'a self, tensor: usize, newest: &'a Var) -> Vec<&'a Var> {
        self.steps.iter().map(|step| &step[tensor]).chain([newest]).collect()
    }

    /// Where a hypothesis was in each step; nowhere before the first.
    fn trail(&self, row: usize) -> &[usize] {
        let steps = self.steps.len();
        self.trails.get(row * steps..(row + 1) * steps).unwrap_or_default()
    }
}
