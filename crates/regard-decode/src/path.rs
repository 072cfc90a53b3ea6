//! A prefix of a translation, as search and forced decoding grow it: both sum the same numbers in the same order.

use std::sync::Arc;

use regard_model::StepOutput;

use crate::look::Look;

/// What is kept of where a path looked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    /// What is to be returned.
    pub(crate) look: Option<Look>,
    /// Whether the coverage counts.
    pub(crate) coverage: bool,
}

/// The tokens so far and what they cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// The ids, the end symbol included once it is written.
    pub(crate) tokens: Vec<u32>,
    /// log p of each id.
    pub(crate) token_log_probs: Vec<f32>,
    /// Their sum, first to last.
    pub(crate) log_prob: f64,
    watch: Watch,
    /// One an id, where something is watched. They are shared by all paths that passed there.
    looked: Vec<Arc<Looked>>,
}

/// What one step looked at: a value for each position of the source.
#[derive(Debug, Default)]
struct Looked {
    scores: Vec<f32>,
    weights: Vec<f32>,
    /// What counts for the coverage: the look of the last layer, the mean of its heads.
    covered: Vec<f32>,
}

impl Watch {
    /// Whether the model has to give its attention.
    pub(crate) fn is_wanted(self) -> bool {
        self.look.is_some() || self.coverage
    }

    fn looked(self, output: &StepOutput, row: usize, positions: usize) -> Looked {
        let of = |look: Option<Look>, what: fn(Look, &StepOutput, usize, usize) -> Option<Vec<f32>>| {
            look.and_then(|look| what(look, output, row, positions)).unwrap_or_default()
        };
        Looked {
            scores: of(self.look, Look::scores),
            weights: of(self.look, Look::weights),
            covered: of(self.coverage.then(Look::default), Look::weights),
        }
    }
}

impl Path {
    /// The empty prefix.
    pub(crate) fn new(watch: Watch) -> Self {
        Self { watch, ..Self::default() }
    }

    /// Appends a token that row `row` of a step gave, for a source of so many positions.
    pub(crate) fn push(
        &mut self,
        token: u32,
        log_prob: f32,
        output: &StepOutput,
        row: usize,
        positions: usize,
    ) {
        self.tokens.push(token);
        self.token_log_probs.push(log_prob);
        self.log_prob += f64::from(log_prob);
        if self.watch.is_wanted() {
            self.looked.push(Arc::new(self.watch.looked(output, row, positions)));
        }
    }

    /// What each source position got over all tokens.
    pub(crate) fn coverage(&self) -> Vec<f64> {
        let mut coverage = Vec::new();
        for row in &self.looked {
            coverage.resize(row.covered.len(), 0.0);
            for (sum, &weight) in coverage.iter_mut().zip(&row.covered) {
                *sum += f64::from(weight);
            }
        }
        coverage
    }

    /// The attention weights, one row a token, where they were wanted.
    pub(crate) fn attention_rows(&self) -> Option<Vec<Vec<f32>>> {
        self.watch.look.map(|_| self.looked.iter().map(|row| row.weights.clone()).collect())
    }

    /// The scores before the softmax, one row a token, where attention was wanted.
    pub(crate) fn attention_scores(&self) -> Option<Vec<Vec<f32>>> {
        self.watch.look.map(|_| self.looked.iter().map(|row| row.scores.clone()).collect())
    }
}
