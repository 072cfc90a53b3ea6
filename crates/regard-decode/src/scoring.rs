//! What hypotheses are compared by.

use crate::length_penalty::LengthPenalty;
use crate::options::SearchOptions;
use crate::path::Path;

/// A source position that was hardly looked at costs no more than this coverage.
const LEAST_COVERAGE: f64 = 1e-6;

/// The length penalty and the coverage penalty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scoring {
    penalty: LengthPenalty,
    coverage: f64,
}

impl Scoring {
    pub(crate) fn new(options: &SearchOptions) -> Self {
        Self { penalty: options.length_penalty, coverage: options.coverage_penalty }
    }

    pub(crate) fn score(&self, path: &Path) -> f64 {
        let score = self.penalty.score(path.log_prob, path.token_log_probs.len());
        if self.coverage > 0.0 { score + self.coverage * log_coverage(&path.coverage()) } else { score }
    }

    /// The best score that a path can still get: see [`LengthPenalty`]; all of the source may yet be covered.
    pub(crate) fn best_attainable(&self, path: &Path, max_length: usize) -> f64 {
        self.penalty.best_attainable(path.log_prob, path.tokens.len() + 1, max_length)
    }
}

/// Σ log min(coverage, 1) over the source tokens; the last position is the end symbol and left out.
fn log_coverage(coverage: &[f64]) -> f64 {
    let tokens = coverage.split_last().map_or(&[][..], |(_end, tokens)| tokens);
    tokens.iter().map(|sum| sum.clamp(LEAST_COVERAGE, 1.0).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_is_clamped_and_the_end_left_out() {
        // ln 0.5 + ln 1 + ln 1e-6.
        let expected = 0.5_f64.ln() + 1e-6_f64.ln();
        assert!((log_coverage(&[0.5, 1.7, 0.0, 0.0]) - expected).abs() < 1e-12);
        assert!(log_coverage(&[]).abs() < f64::EPSILON);
    }
}
