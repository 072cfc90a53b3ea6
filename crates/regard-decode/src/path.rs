//! A prefix of a translation, as search and forced decoding grow it: both sum the same numbers in the same order.

use std::sync::Arc;

use regard_model::{SiteAttention, SiteKind, StepOutput};
use regard_tensor::Tensor;

/// The tokens so far and what they cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// The ids, the end symbol included once it is written.
    pub(crate) tokens: Vec<u32>,
    /// log p of each id.
    pub(crate) token_log_probs: Vec<f32>,
    /// Their sum, first to last.
    pub(crate) log_prob: f64,
    /// One row an id where attention is wanted. Rows are shared by all paths that passed there.
    attention: Option<Vec<Arc<Looked>>>,
}

/// What one step looked at: a value for each position of the source.
#[derive(Debug)]
pub(crate) struct Looked {
    scores: Vec<f32>,
    weights: Vec<f32>,
}

impl Path {
    /// The empty prefix.
    pub(crate) fn new(attention: bool) -> Self {
        Self { attention: attention.then(Vec::new), ..Self::default() }
    }

    /// Appends a token.
    pub(crate) fn push(&mut self, token: u32, log_prob: f32, attention: Option<Arc<Looked>>) {
        self.tokens.push(token);
        self.token_log_probs.push(log_prob);
        self.log_prob += f64::from(log_prob);
        if let (Some(rows), Some(row)) = (&mut self.attention, attention) {
            rows.push(row);
        }
    }

    /// What each source position got over all tokens.
    pub(crate) fn coverage(&self) -> Vec<f64> {
        let mut coverage = Vec::new();
        for row in self.attention.iter().flatten() {
            coverage.resize(row.weights.len(), 0.0);
            for (sum, &weight) in coverage.iter_mut().zip(&row.weights) {
                *sum += f64::from(weight);
            }
        }
        coverage
    }

    /// The attention weights, one row a token, where they were wanted.
    pub(crate) fn attention_rows(&self) -> Option<Vec<Vec<f32>>> {
        self.attention.as_ref().map(|rows| rows.iter().map(|row| row.weights.clone()).collect())
    }

    /// The scores before the softmax, one row a token, where attention was wanted.
    pub(crate) fn attention_scores(&self) -> Option<Vec<Vec<f32>>> {
        self.attention.as_ref().map(|rows| rows.iter().map(|row| row.scores.clone()).collect())
    }
}

/// What row `row` of a step looked at in the source, cut to the sentence's own positions: by the attention of the last
/// layer, the mean of its heads.
pub(crate) fn attention_row(output: &StepOutput, row: usize, positions: usize) -> Option<Arc<Looked>> {
    let cross = || output.attention.iter().filter(|seen| seen.site.kind == SiteKind::Cross);
    let layer = cross().map(|seen| seen.site.layer).max()?;
    let heads: Vec<_> = cross().filter(|seen| seen.site.layer == layer).collect();
    let mean = |of: fn(&SiteAttention) -> &Tensor| -> Vec<f32> {
        let mut sums = vec![0.0; positions];
        for head in &heads {
            for (sum, value) in sums.iter_mut().zip(of(head).row(row)) {
                *sum += value;
            }
        }
        sums.into_iter().map(|sum| sum / heads.len() as f32).collect()
    };
    Some(Arc::new(Looked { scores: mean(|seen| &seen.scores), weights: mean(|seen| &seen.weights) }))
}
