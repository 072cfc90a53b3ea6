//! Scheduled sampling (Bengio et al. 2015): how often the decoder must read its own words.

use serde::{Deserialize, Serialize};

use crate::config::Problem;

/// How the probability ε of reading the *true* last word falls with the step i, counted from 1. The model reads its own
/// prediction with probability 1 − ε, one coin per token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SamplingConfig {
    /// ε = 1: teacher forcing throughout.
    #[default]
    None,
    /// ε = max(minimum, 1 − slope · i).
    Linear {
        /// What is lost a step.
        slope: f64,
        /// ε never falls below.
        #[serde(default)]
        minimum: f64,
    },
    /// ε = kⁱ.
    Exponential {
        /// Just below 1.
        k: f64,
    },
    /// ε = k / (k + exp(i / k)).
    InverseSigmoid {
        /// At least 1: the larger, the longer the truth is read.
        k: f64,
    },
}

impl SamplingConfig {
    /// The probability 1 − ε that a decoder input is the model's own last prediction, at an update counted from 1.
    ///
    /// ```
    /// use regard_train::SamplingConfig;
    /// assert_eq!(SamplingConfig::None.probability(1000), 0.0);
    /// assert_eq!(SamplingConfig::Linear { slope: 0.001, minimum: 0.75 }.probability(100), 0.1);
    /// assert_eq!(SamplingConfig::Linear { slope: 0.001, minimum: 0.75 }.probability(1000), 0.25);
    /// ```
    #[must_use]
    pub fn probability(&self, step: u64) -> f64 {
        let i = step as f64;
        match *self {
            Self::None => 0.0,
            Self::Linear { slope, minimum } => (slope * i).min(1.0 - minimum),
            Self::Exponential { k } => 1.0 - k.powf(i),
            // An exponential beyond f64 is infinite, and the truth then never read.
            Self::InverseSigmoid { k } => 1.0 - k / (k + (i / k).exp()),
        }
    }

    /// Refuses impossible values.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match *self {
            Self::None => Ok(()),
            Self::Linear { slope, minimum } => {
                Problem::unless((0.0..=1.0).contains(&slope), "sampling.slope", || {
                    format!("{slope} must be from 0 to 1")
                })?;
                Problem::unless((0.0..=1.0).contains(&minimum), "sampling.minimum", || {
                    format!("{minimum} must be from 0 to 1")
                })
            }
            Self::Exponential { k } => Problem::unless(k > 0.0 && k <= 1.0, "sampling.k", || {
                format!("{k} must be above 0 and at most 1 for an exponential decay")
            }),
            Self::InverseSigmoid { k } => Problem::unless(k >= 1.0 && k.is_finite(), "sampling.k", || {
                format!("{k} must be at least 1 for an inverse sigmoid")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_formulas() {
        let exponential = SamplingConfig::Exponential { k: 0.99 };
        assert!((exponential.probability(100) - (1.0 - 0.366_032_341_273_229_5)).abs() < 1e-12);
        let sigmoid = SamplingConfig::InverseSigmoid { k: 10.0 };
        // 10 / (10 + e) and 10 / (10 + e^2.302585093) = 10 / 20.
        assert!((sigmoid.probability(10) - (1.0 - 10.0 / (10.0 + std::f64::consts::E))).abs() < 1e-12);
        assert!((sigmoid.probability(23) - 0.5).abs() < 1e-3);
        assert!((sigmoid.probability(1_000_000) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn impossible_values() {
        assert!(SamplingConfig::Exponential { k: 1.1 }.check().is_err());
        assert!(SamplingConfig::InverseSigmoid { k: 0.5 }.check().is_err());
        assert!(SamplingConfig::Linear { slope: -0.1, minimum: 0.0 }.check().is_err());
        assert!(SamplingConfig::Linear { slope: 0.1, minimum: 0.5 }.check().is_ok());
    }
}
