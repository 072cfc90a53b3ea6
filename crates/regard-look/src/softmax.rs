//! From scores to weights, and how spread out weights are. Sums run in f64, in index order.

use thiserror::Error;

/// Why a row of numbers cannot become weights.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SoftmaxError {
    /// The temperature is zero, negative or not finite.
    #[error("temperature {0} is not usable: give a finite number above 0 (1 changes nothing)")]
    Temperature(f32),
    /// A score is NaN or +∞ (−∞ is allowed: it masks its position).
    #[error("score {value} at position {position} is not a number that can be compared")]
    Score {
        /// Index in the row.
        position: usize,
        /// What stood there.
        value: f32,
    },
    /// A weight is negative, NaN or infinite.
    #[error("weight {value} at position {position} is not a finite number of at least 0")]
    Weight {
        /// Index in the row.
        position: usize,
        /// What stood there.
        value: f32,
    },
}

/// Weights `exp(s_j / T) / Σ_k exp(s_k / T)` of the scores `s`, with temperature `T`.
///
/// A score of −∞ masks its position (weight exactly 0). A row that is masked everywhere, and an empty row, give zeros.
///
/// # Errors
/// [`SoftmaxError::Temperature`] unless `0 < temperature < ∞`; [`SoftmaxError::Score`] for NaN or +∞.
///
/// ```
/// let weights = regard_look::softmax(&[1.0, 3.0, 0.5, 0.0], 1.0)?;
/// assert!((weights[1] - 0.7891).abs() < 1e-4);
/// # Ok::<(), regard_look::SoftmaxError>(())
/// ```
pub fn softmax(scores: &[f32], temperature: f32) -> Result<Vec<f32>, SoftmaxError> {
    check_temperature(temperature)?;
    if let Some((position, &value)) =
        scores.iter().enumerate().find(|(_, s)| s.is_nan() || **s == f32::INFINITY)
    {
        return Err(SoftmaxError::Score { position, value });
    }
    let scaled = scores.iter().map(|s| f64::from(*s) / f64::from(temperature));
    Ok(normalise_logs(&scaled.collect::<Vec<_>>()))
}

/// The weights that temperature `T` makes of the weights `w` of temperature 1: `w_j^(1/T) / Σ_k w_k^(1/T)`.
///
/// This equals `softmax(log w / T)`, so it is what dividing the scores by `T` would have given, without knowing them.
/// The result sums to 1 even where `w` did not; zeros stay zeros, and a row of zeros stays as it is.
///
/// # Errors
/// [`SoftmaxError::Temperature`] unless `0 < temperature < ∞`; [`SoftmaxError::Weight`] for a weight that is negative
/// or not finite.
pub fn sharpen(weights: &[f32], temperature: f32) -> Result<Vec<f32>, SoftmaxError> {
    check_temperature(temperature)?;
    if let Some((position, &value)) =
        weights.iter().enumerate().find(|(_, w)| !w.is_finite() || w.is_sign_negative() && **w < 0.0)
    {
        return Err(SoftmaxError::Weight { position, value });
    }
    let logs = weights.iter().map(|w| f64::from(*w).ln() / f64::from(temperature));
    Ok(normalise_logs(&logs.collect::<Vec<_>>()))
}

/// Entropy `−Σ_j p_j ln p_j` in nats, where `p` is `weights` divided by their sum (`0 ln 0 = 0`).
///
/// 0 means that one position has everything, `ln n` that `n` positions share equally. A row without mass gives 0.
/// Weights must be finite and not negative, as those of a [`crate::Heatmap`] are.
#[must_use]
pub fn entropy(weights: &[f32]) -> f32 {
    let sum: f64 = weights.iter().map(|w| f64::from(*w)).sum();
    if sum <= 0.0 {
        return 0.0;
    }
    let shares = weights.iter().map(|w| f64::from(*w) / sum).filter(|p| *p > 0.0);
    // The sum of p·ln p is at most 0; `max` only turns −0 into 0.
    (-shares.map(|p| p * p.ln()).sum::<f64>()).max(0.0) as f32
}

fn check_temperature(temperature: f32) -> Result<(), SoftmaxError> {
    if temperature.is_finite() && temperature > 0.0 {
        return Ok(());
    }
    Err(SoftmaxError::Temperature(temperature))
}

/// `exp(l_j − max) / Σ exp(l_k − max)`; all −∞ gives zeros.
fn normalise_logs(logs: &[f64]) -> Vec<f32> {
    let max = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return vec![0.0; logs.len()];
    }
    let powers: Vec<f64> = logs.iter().map(|l| (l - max).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|p| (p / sum) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masked_positions_weigh_nothing() {
        let weights = softmax(&[f32::NEG_INFINITY, 2.0, 2.0], 1.0).unwrap();
        assert_eq!(weights, [0.0, 0.5, 0.5]);
        assert_eq!(softmax(&[f32::NEG_INFINITY; 2], 1.0).unwrap(), [0.0, 0.0]);
        assert_eq!(softmax(&[], 1.0).unwrap(), [0.0; 0]);
    }

    #[test]
    fn huge_scores_do_not_overflow() {
        assert_eq!(softmax(&[3e38, -3e38], 0.001).unwrap(), [1.0, 0.0]);
        assert_eq!(sharpen(&[1e-38, 0.0, 1e-38], 0.01).unwrap(), [0.5, 0.0, 0.5]);
    }

    #[test]
    fn bad_numbers_are_refused_by_position() {
        for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(matches!(softmax(&[1.0], bad), Err(SoftmaxError::Temperature(_))));
        }
        assert!(matches!(softmax(&[0.0, f32::NAN], 1.0), Err(SoftmaxError::Score { position: 1, .. })));
        assert!(matches!(sharpen(&[0.5, -0.5], 1.0), Err(SoftmaxError::Weight { position: 1, .. })));
    }

    #[test]
    fn entropy_of_known_rows() {
        assert!((entropy(&[0.25; 4]) - 4f32.ln()).abs() < 1e-6);
        assert!((entropy(&[0.5, 0.25, 0.25]) - 1.5 * 2f32.ln()).abs() < 1e-6);
        assert!((entropy(&[0.1, 0.1]) - 2f32.ln()).abs() < 1e-6); // normalised first
        assert_eq!(entropy(&[0.0, 1.0]).to_bits(), 0);
        assert_eq!(entropy(&[0.0, 0.0]).to_bits(), 0);
    }

    proptest! {
        #[test]
        fn sharpening_weights_is_dividing_scores(
            scores in prop::collection::vec(-4f32..4.0, 1..9), temperature in 0.3f32..5.0,
        ) {
            let direct = softmax(&scores, temperature).unwrap();
            let through_weights = sharpen(&softmax(&scores, 1.0).unwrap(), temperature).unwrap();
            for (a, b) in direct.iter().zip(&through_weights) {
                prop_assert!((a - b).abs() < 1e-5);
            }
            prop_assert!((direct.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }

        #[test]
        fn entropy_rises_with_temperature(scores in prop::collection::vec(-4f32..4.0, 2..9)) {
            let at = |t| entropy(&softmax(&scores, t).unwrap());
            prop_assert!(at(0.5) <= at(1.0) + 1e-5 && at(1.0) <= at(2.0) + 1e-5);
            prop_assert!(at(2.0) <= (scores.len() as f32).ln() + 1e-5);
        }
    }
}
