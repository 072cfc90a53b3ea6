//! Which validation was the best, and when to give up.

use serde::{Deserialize, Serialize};

/// The best validation so far. A score that is not a number is never the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestScore {
    /// The best score and the update after which it was reached.
    pub best: Option<(f64, u64)>,
    /// Validations since then.
    pub waited: u64,
    /// How that score counts.
    pub higher_is_better: bool,
}

impl BestScore {
    /// Takes in a score and says whether it is better than all before; an equal one is not. Scores that count the other
    /// way, of a run that resumed with another metric, are forgotten.
    pub fn observe(&mut self, score: f64, higher_is_better: bool, step: u64) -> bool {
        if self.higher_is_better != higher_is_better {
            *self = Self { higher_is_better, ..Self::default() };
        }
        let improved = match self.best {
            None => !score.is_nan(),
            Some((best, _)) if higher_is_better => score > best,
            Some((best, _)) => score < best,
        };
        if improved {
            *self = Self { best: Some((score, step)), waited: 0, higher_is_better };
        } else {
            self.waited += 1;
        }
        improved
    }

    /// Whether `patience` validations in a row brought nothing better; a patience of 0 never ends.
    #[must_use]
    pub fn is_exhausted(&self, patience: u64) -> bool {
        patience > 0 && self.waited >= patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_counts_from_the_best() {
        let mut best = BestScore::default();
        let improved: Vec<bool> = [3.0, 2.0, 2.0, f64::NAN, 1.0, 4.0, 4.0]
            .into_iter()
            .enumerate()
            .map(|(step, score)| best.observe(score, false, step as u64))
            .collect();
        assert_eq!(improved, [true, true, false, false, true, false, false]);
        assert_eq!(best, BestScore { best: Some((1.0, 4)), waited: 2, higher_is_better: false });
        assert!(best.is_exhausted(2) && !best.is_exhausted(3) && !best.is_exhausted(0));
    }

    #[test]
    fn higher_may_be_better() {
        let mut best = BestScore::default();
        assert!(!best.observe(f64::NAN, true, 1));
        assert!(best.observe(20.0, true, 2));
        assert!(!best.observe(19.0, true, 3));
        assert!(best.observe(21.0, true, 4));
    }

    #[test]
    fn another_metric_begins_anew() {
        let mut best = BestScore::default();
        assert!(best.observe(2.5, false, 1) && !best.observe(3.0, false, 2));
        assert!(best.observe(0.4, true, 3) && best.observe(0.5, true, 4));
        assert_eq!(best, BestScore { best: Some((0.5, 4)), waited: 0, higher_is_better: true });
        assert!(best.observe(2.0, false, 5));
    }
}
