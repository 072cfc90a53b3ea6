//! What hypotheses leave behind, step after step, such as the keys and values of a decoder's self-attention.

use std::sync::Arc;

use regard_tensor::ops::Trails;
use regard_tensor::{TensorError, Var};

use crate::error::Result;

/// Tensors of all steps so far. A hypothesis is a trail of rows through them, and beams are re-ordered by exchanging trails:
/// rows are copied only when most of those beside them are read no more.
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
        let trails = parents.iter().flat_map(|&parent| self.trail(parent)).copied().collect();
        let mut selected = Self { steps: self.steps.clone(), trails, rows: parents.len() };
        let mut places = Vec::new();
        for step in 0..selected.len() {
            selected.forget(step, &mut places)?;
        }
        Ok(selected)
    }

    /// Copies the rows of a step that are still read, where they are at most half of what it holds: old steps, in which
    /// hypotheses of one sentence were one, get small, and each row is copied a few times at most. `places` is room to work in.
    fn forget(&mut self, step: usize, places: &mut Vec<Option<usize>>) -> Result<()> {
        let steps = self.len();
        places.clear();
        places.resize(self.steps[step].first().map_or(0, |var| var.shape().rows()), None);
        self.trails.iter().skip(step).step_by(steps).for_each(|&row| places[row] = Some(0));
        if places.is_empty() || 2 * places.iter().flatten().count() > places.len() {
            return Ok(());
        }
        let kept: Vec<usize> = (0..places.len()).filter(|&row| places[row].is_some()).collect();
        kept.iter().enumerate().for_each(|(place, &row)| places[row] = Some(place));
        let rows = |var: &Var| Ok(Var::constant(var.value().select_rows(&kept)?));
        self.steps[step] = self.steps[step].iter().map(rows).collect::<Result<_>>()?;
        for trail in self.trails.iter_mut().skip(step).step_by(steps) {
            *trail = places[*trail].unwrap_or_default();
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::History;
    use regard_tensor::{Tensor, Var};

    /// A step of so many hypotheses, whose vectors are their number behind that of the step.
    fn step(number: f32, rows: usize) -> Vec<Var> {
        let vector = |row| [number, row as f32];
        vec![Var::constant(Tensor::new([rows, 2], (0..rows).flat_map(vector).collect()).unwrap())]
    }

    /// What a hypothesis reads, step after step.
    fn read(history: &History, row: usize) -> Vec<[f32; 2]> {
        let vector = |(step, &place): (usize, &usize)| {
            let vector = history.steps[step][0].value().row(place);
            [vector[0], vector[1]]
        };
        history.trail(row).iter().enumerate().map(vector).collect()
    }

    #[test]
    fn rows_that_nobody_reads_are_forgotten_and_the_others_stay() {
        let history = History::default().with(step(0.0, 5)).select(&[3, 3, 1, 3, 1]).unwrap();
        assert_eq!(history.steps[0][0].shape().rows(), 2);
        let history = history.with(step(1.0, 5)).select(&[0, 2, 4]).unwrap();
        // Three of five rows are still read: they are not worth a copy.
        assert_eq!(history.steps[1][0].shape().rows(), 5);
        assert_eq!(read(&history, 0), [[0.0, 3.0], [1.0, 0.0]]);
        assert_eq!(read(&history, 1), [[0.0, 1.0], [1.0, 2.0]]);
        assert_eq!(read(&history, 2), [[0.0, 1.0], [1.0, 4.0]]);
        let last = history.select(&[2]).unwrap();
        assert_eq!(last.steps.iter().map(|step| step[0].shape().rows()).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(read(&last, 0), [[0.0, 1.0], [1.0, 4.0]]);
        assert!(last.select(&[1]).is_err());
    }
}
