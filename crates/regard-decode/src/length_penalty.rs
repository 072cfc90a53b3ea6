//! How hypotheses of different lengths are compared.

use std::fmt;

use crate::error::{DecodeError, Result};

/// Makes a score from the sum of log-probabilities and n, the number of tokens in it, the end symbol included.
///
/// Larger scores are better. An alpha of 0 is neutral in every formula; a larger one favours longer translations, since
/// log-probabilities are negative. Only finished hypotheses are compared by score: inside the beam, where all have one
/// length, the raw sums decide.
///
/// ```
/// use regard_decode::LengthPenalty;
/// assert_eq!(LengthPenalty::None.score(-1.6, 4), -1.6);
/// assert_eq!(LengthPenalty::Average { alpha: 1.0 }.score(-1.6, 4), -0.4);
/// assert_eq!(LengthPenalty::Gnmt { alpha: 1.0 }.score(-1.5, 4), -1.0);
/// assert_eq!(LengthPenalty::Marian { alpha: 1.0, word_penalty: 0.5 }.score(-1.6, 4), -0.9);
/// assert_eq!(LengthPenalty::default().to_string(), "Σ log p / n^1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LengthPenalty {
    /// Σ log p.
    None,
    /// Σ log p / n^α (fairseq, `CTranslate2`, OpenNMT's `avg`).
    Average {
        /// α ≥ 0; the usual value is 1.
        alpha: f64,
    },
    /// Σ log p / ((5 + n) / 6)^α (Wu et al. 2016, equation 14).
    Gnmt {
        /// α ≥ 0; the usual value is 0.6.
        alpha: f64,
    },
    /// (Σ log p − w·n) / n^α (Marian's `--normalize` and `--word-penalty`).
    Marian {
        /// α ≥ 0.
        alpha: f64,
        /// w, what each token costs; negative values reward length.
        word_penalty: f64,
    },
}

impl Default for LengthPenalty {
    fn default() -> Self {
        Self::Average { alpha: 1.0 }
    }
}

impl LengthPenalty {
    /// The score of a hypothesis of `n` tokens; no token scores 0.
    #[must_use]
    pub fn score(&self, log_prob: f64, n: usize) -> f64 {
        if n == 0 {
            return 0.0;
        }
        let n = n as f64;
        match *self {
            Self::None => log_prob,
            Self::Average { alpha } => log_prob / n.powf(alpha),
            Self::Gnmt { alpha } => log_prob / ((5.0 + n) / 6.0).powf(alpha),
            Self::Marian { alpha, word_penalty } => (log_prob - word_penalty * n) / n.powf(alpha),
        }
    }

    /// The best score that a hypothesis of this sum can still get when it ends with `least` to `most` tokens: the sum can
    /// only fall, so it is taken as it is.
    pub(crate) fn best_attainable(&self, log_prob: f64, least: usize, most: usize) -> f64 {
        let at = |n: usize| self.score(log_prob, n.clamp(least, most));
        let Self::Marian { alpha, word_penalty } = *self else {
            return at(most);
        };
        // With s ≤ 0 the score (s - w·n) / n^α has at most one turning point, at n = -α·s / (w·(1 - α)).
        let turn = -alpha * log_prob / (word_penalty * (1.0 - alpha));
        let turn = if turn.is_finite() { turn.clamp(least as f64, most as f64) as usize } else { least };
        at(least).max(at(turn)).max(at(turn + 1)).max(at(most))
    }

    pub(crate) fn check(&self) -> Result<()> {
        let (alpha, word_penalty) = match *self {
            Self::None => (0.0, 0.0),
            Self::Average { alpha } | Self::Gnmt { alpha } => (alpha, 0.0),
            Self::Marian { alpha, word_penalty } => (alpha, word_penalty),
        };
        if !(alpha.is_finite() && alpha >= 0.0) {
            let reason = format!("the length penalty's alpha is {alpha}; it must be 0 (neutral) or more");
            return Err(DecodeError::Options(reason));
        }
        if !word_penalty.is_finite() {
            return Err(DecodeError::Options(format!(
                "the word penalty is {word_penalty}; it must be a number"
            )));
        }
        Ok(())
    }
}

/// The formula with its numbers, for whoever prints a score.
impl fmt::Display for LengthPenalty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "Σ log p"),
            Self::Average { alpha } => write!(f, "Σ log p / n^{alpha}"),
            Self::Gnmt { alpha } => write!(f, "Σ log p / ((5 + n) / 6)^{alpha}"),
            Self::Marian { alpha, word_penalty } => write!(f, "(Σ log p - {word_penalty}·n) / n^{alpha}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_penalty() -> impl Strategy<Value = LengthPenalty> {
        let alpha = prop_oneof![Just(0.0), Just(1.0), 0.0..2.5_f64];
        (0..4, alpha, prop_oneof![Just(0.0), -1.0..1.0_f64]).prop_map(
            |(kind, alpha, word_penalty)| match kind {
                0 => LengthPenalty::None,
                1 => LengthPenalty::Average { alpha },
                2 => LengthPenalty::Gnmt { alpha },
                _ => LengthPenalty::Marian { alpha, word_penalty },
            },
        )
    }

    proptest! {
        #[test]
        fn the_bound_is_the_best_of_all_lengths(
            penalty in any_penalty(), log_prob in -40.0..=0.0_f64, least in 1..30_usize, more in 0..40_usize,
        ) {
            let most = least + more;
            let best = (least..=most).map(|n| penalty.score(log_prob, n)).fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!(penalty.best_attainable(log_prob, least, most).to_bits(), best.to_bits());
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for alpha in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(LengthPenalty::Average { alpha }.check().is_err());
            assert!(LengthPenalty::Gnmt { alpha }.check().is_err());
        }
        assert!(LengthPenalty::Marian { alpha: 1.0, word_penalty: f64::NAN }.check().is_err());
        assert!(LengthPenalty::Marian { alpha: 0.0, word_penalty: -0.3 }.check().is_ok());
    }
}
