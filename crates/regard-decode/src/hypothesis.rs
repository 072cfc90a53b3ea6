//! What a search returns.

use regard_text::special_tokens::EOS;

use crate::path::Path;
use crate::scoring::Scoring;

/// A translation as ids, with the numbers that it was chosen by.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// The target ids, without the end symbol.
    pub tokens: Vec<u32>,
    /// Σ log p, natural logarithm, over `token_log_probs`.
    pub log_prob: f64,
    /// What the list is sorted by: `log_prob` under the length penalty, with the coverage penalty where there is one.
    pub score: f64,
    /// log p of each token, and of the end symbol where it was written.
    pub token_log_probs: Vec<f32>,
    /// Whether the end symbol was written; `false` where the length limit, or who stopped the search, has cut.
    pub finished: bool,
    /// Whether the search was stopped, by its time limit or by who asked for it, before it had come to its end: there may
    /// be better ones.
    pub stopped: bool,
    /// Attention weights where they were asked for, `[token_log_probs, source tokens + end symbol]`.
    pub attention: Option<Vec<Vec<f32>>>,
    /// The scores that the weights were made from, in the same form.
    pub attention_scores: Option<Vec<Vec<f32>>>,
}

impl Hypothesis {
    /// The number of tokens in `log_prob`, the end symbol included: n in every length penalty.
    #[must_use]
    pub fn length(&self) -> usize {
        self.token_log_probs.len()
    }

    /// The hypothesis of a path that ended, by its end symbol or by the limit.
    pub(crate) fn from_path(mut path: Path, scoring: &Scoring) -> Self {
        let score = scoring.score(&path);
        let finished = path.tokens.last() == Some(&EOS);
        if finished {
            path.tokens.pop();
        }
        Self {
            score,
            log_prob: path.log_prob,
            attention: path.attention_rows(),
            attention_scores: path.attention_scores(),
            tokens: path.tokens,
            token_log_probs: path.token_log_probs,
            finished,
            stopped: false,
        }
    }
}
