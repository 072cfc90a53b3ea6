//! Tokens drawn by chance.

use regard_tensor::random;

use crate::error::{DecodeError, Result};

/// How a token is drawn. Filters work one after the other, on the probabilities at the temperature; what they leave is
/// scaled to sum to 1. The default draws from the model's own distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Scores are divided by it: below 1 sharper, above 1 flatter.
    pub temperature: f64,
    /// Only the so many most probable tokens; 0 for all.
    pub top_k: usize,
    /// Only the most probable tokens that together have this probability (Holtzman et al. 2020); 1 for all.
    pub top_p: f64,
    /// Only tokens with at least this share of the largest probability (Nguyen et al. 2024); 0 for all.
    pub min_p: f64,
    /// Decides the draws, with the source sentence, the number of the draw and the position.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, seed: 1 }
    }
}

impl Sampling {
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |reason: String| Err(DecodeError::Options(reason));
        let Self { temperature, top_p, min_p, .. } = *self;
        if !(temperature > 0.0 && temperature.is_finite()) {
            return refuse(format!("the temperature is {temperature}; it must be above 0"));
        }
        if !(top_p > 0.0 && top_p <= 1.0) {
            return refuse(format!("top-p is {top_p}; it must be above 0 and at most 1"));
        }
        if !(0.0..=1.0).contains(&min_p) {
            return refuse(format!("min-p is {min_p}; it must be from 0 to 1"));
        }
        Ok(())
    }

    /// A token, by a number from 0 to below 1; `None` where none is allowed and possible.
    ///
    /// ```
    /// use regard_decode::Sampling;
    /// let log_probs = [0.6_f32, 0.3, 0.1].map(f32::ln);
    /// let draw = |sampling: Sampling, number| sampling.draw(&log_probs, |_| true, number);
    /// assert_eq!(draw(Sampling::default(), 0.59), Some(0));
    /// assert_eq!(draw(Sampling::default(), 0.61), Some(1));
    /// assert_eq!(draw(Sampling { top_k: 1, ..Sampling::default() }, 0.99), Some(0));
    /// assert_eq!(draw(Sampling { top_p: 0.7, ..Sampling::default() }, 0.99), Some(1));
    /// assert_eq!(draw(Sampling { min_p: 0.4, ..Sampling::default() }, 0.99), Some(1));
    /// ```
    #[must_use]
    pub fn draw(&self, log_probs: &[f32], allowed: impl Fn(u32) -> bool, number: f64) -> Option<u32> {
        let mut tokens: Vec<(u32, f64)> = (0_u32..)
            .zip(log_probs)
            .filter(|&(token, &log_prob)| log_prob > f32::NEG_INFINITY && allowed(token))
            .map(|(token, &log_prob)| (token, f64::from(log_prob) / self.temperature))
            .collect();
        tokens.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        if self.top_k > 0 {
            tokens.truncate(self.top_k);
        }
        let largest = tokens.first()?.1;
        for (_, weight) in &mut tokens {
            *weight = (*weight - largest).exp();
        }
        let enough = self.top_p * tokens.iter().map(|&(_, weight)| weight).sum::<f64>();
        let mut sum = 0.0;
        let nucleus = tokens.iter().position(|&(_, weight)| {
            sum += weight;
            sum >= enough
        });
        tokens.truncate(nucleus.map_or(tokens.len(), |last| last + 1));
        tokens.retain(|&(_, weight)| weight >= self.min_p);
        let goal = number * tokens.iter().map(|&(_, weight)| weight).sum::<f64>();
        let mut sum = 0.0;
        let drawn = tokens.iter().find(|&&(_, weight)| {
            sum += weight;
            sum > goal
        });
        drawn.or(tokens.last()).map(|&(token, _)| token)
    }

    /// The number that decides a draw: it depends on nothing but the sentence and its own place.
    pub(crate) fn number(&self, sentence: &[u32], draw: usize, position: usize) -> f64 {
        let key = sentence.iter().fold(self.seed, |key, &id| random::mix(key, u64::from(id)));
        random::unit(random::mix(key, draw as u64), position as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_probabilities() {
        let log_probs = [0.5_f32, 0.25, 0.125, 0.125].map(f32::ln);
        let mut counts = [0; 4];
        let sampling = Sampling { temperature: 0.5, ..Sampling::default() };
        for draw in 0..10_000 {
            let number = sampling.number(&[7, 8], draw, 3);
            counts[sampling.draw(&log_probs, |token| token != 1, number).unwrap() as usize] += 1;
        }
        // p^2 without the second one: 16 : 1 : 1.
        assert!((8800..8980).contains(&counts[0]) && counts[1] == 0, "{counts:?}");
        assert!((480..640).contains(&counts[2]) && (480..640).contains(&counts[3]), "{counts:?}");
        assert_eq!(sampling.draw(&log_probs, |_| false, 0.5), None);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for bad in [
            Sampling { temperature: 0.0, ..Sampling::default() },
            Sampling { temperature: f64::NAN, ..Sampling::default() },
            Sampling { top_p: 0.0, ..Sampling::default() },
            Sampling { min_p: 1.1, ..Sampling::default() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
