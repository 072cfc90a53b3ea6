//! The search of one sentence, a step at a time.
//!
//! At each step the `beam_size` best continuations of all living paths are taken by their raw sums. Those that end leave
//! the beam for the finished list; the others live on. So a beam of one is greedy search, and no sentence knows of any
//! other.

mod candidates;
mod finished;

use regard_model::StepOutput;
use regard_text::special_tokens::EOS;

use crate::error::{DecodeError, Result};
use crate::hypothesis::Hypothesis;
use crate::options::SearchOptions;
use crate::path::{Path, attention_row};
use candidates::Candidates;
use finished::Finished;

/// The living and the finished hypotheses of a sentence.
#[derive(Debug)]
pub(crate) struct Beam {
    /// Which sentence of the batch.
    pub(crate) sentence: usize,
    /// The paths that go on, best first. None: the search of this sentence is over.
    pub(crate) living: Vec<Path>,
    options: SearchOptions,
    /// Source positions, the end symbol included.
    positions: usize,
    max_length: usize,
    finished: Finished,
    /// What lived when the limit came.
    cut: Vec<Path>,
}

impl Beam {
    /// The beam before the first step.
    pub(crate) fn new(sentence: usize, positions: usize, options: &SearchOptions) -> Self {
        Self {
            sentence,
            living: vec![Path::new(options.attention)],
            options: *options,
            positions,
            max_length: options.max_length.tokens(positions.saturating_sub(1)),
            finished: Finished::new(options.n_best, options.length_penalty),
            cut: Vec::new(),
        }
    }

    /// Takes one step, of which this beam's rows begin at `first_row`, and returns the row that each living path
    /// continues.
    pub(crate) fn advance(&mut self, output: &StepOutput, first_row: usize) -> Result<Vec<usize>> {
        let mut candidates = Candidates::new(self.options.beam_size, self.options.allow_unk);
        for (parent, path) in self.living.iter().enumerate() {
            let log_probs = output.log_probs.row(first_row + parent);
            // One bad number makes the whole softmax bad, so the first tells.
            if log_probs.first().is_some_and(|value| value.is_nan()) {
                return Err(DecodeError::NotANumber { sentence: self.sentence, position: path.tokens.len() });
            }
            candidates.offer(parent, path.log_prob, log_probs);
        }
        let candidates = candidates.into_vec();
        if candidates.is_empty() {
            self.cut = std::mem::take(&mut self.living);
            return Ok(Vec::new());
        }
        let (mut living, mut rows) = (Vec::new(), Vec::new());
        for candidate in candidates {
            let row = first_row + candidate.parent;
            let mut path = self.living[candidate.parent].clone();
            path.push(candidate.token, candidate.log_prob, attention_row(output, row, self.positions));
            if candidate.token == EOS {
                self.finished.add(path);
            } else {
                living.push(path);
                rows.push(row);
            }
        }
        self.living = living;
        let at_limit = self.living.first().is_some_and(|path| path.tokens.len() >= self.max_length);
        if at_limit || self.finished.is_settled(&self.living, self.max_length) {
            self.cut = std::mem::take(&mut self.living);
            rows.clear();
        }
        Ok(rows)
    }

    /// The result, best first.
    pub(crate) fn into_hypotheses(self) -> Vec<Hypothesis> {
        self.finished.or_cut(self.cut)
    }
}
