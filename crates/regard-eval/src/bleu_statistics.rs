//! The counts that BLEU is made of. They add up: a corpus is the sum of its segments.

use crate::ngrams::clipped_matches;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// The longest n-gram that BLEU counts.
pub const MAX_NGRAM_ORDER: usize = 4;

/// Matches and lengths of one segment, or of many added together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BleuStatistics {
    /// Tokens in the output.
    pub hypothesis_length: usize,
    /// Tokens in the reference whose length is closest to the output's, the shorter one on ties.
    pub reference_length: usize,
    /// n-grams of the output that a reference has too, for n = 1 to 4. An n-gram counts at most as often as in the
    /// reference that has it most often.
    pub correct: [usize; MAX_NGRAM_ORDER],
    /// n-grams of the output, for n = 1 to 4.
    pub total: [usize; MAX_NGRAM_ORDER],
}

impl BleuStatistics {
    /// Compares the tokens of one segment with those of its references.
    #[must_use]
    pub fn from_tokens<T: Ord>(hypothesis: &[T], references: &[Vec<T>]) -> Self {
        let length = hypothesis.len();
        let lengths = references.iter().map(Vec::len);
        let hypothesis: Vec<&T> = hypothesis.iter().collect();
        let references: Vec<Vec<&T>> =
            references.iter().map(|reference| reference.iter().collect()).collect();
        let references: Vec<&[&T]> = references.iter().map(Vec::as_slice).collect();
        let matches = clipped_matches(&hypothesis, &references, MAX_NGRAM_ORDER);
        Self {
            hypothesis_length: length,
            reference_length: closest_length(length, lengths),
            correct: std::array::from_fn(|n| matches[n]),
            total: std::array::from_fn(|n| length.saturating_sub(n)),
        }
    }

    /// The counts as one row of segment statistics: both lengths, matches, n-grams.
    #[must_use]
    pub fn to_row(&self) -> Vec<f64> {
        let lengths = [self.hypothesis_length, self.reference_length];
        lengths.iter().chain(&self.correct).chain(&self.total).map(|&count| count as f64).collect()
    }

    /// The counts of a row that [`to_row`](Self::to_row) made, or of a sum of such rows. What is missing counts as 0.
    #[must_use]
    pub fn from_row(row: &[f64]) -> Self {
        let at = |index: usize| row.get(index).map_or(0, |&count| count as usize);
        Self {
            hypothesis_length: at(0),
            reference_length: at(1),
            correct: std::array::from_fn(|n| at(2 + n)),
            total: std::array::from_fn(|n| at(2 + MAX_NGRAM_ORDER + n)),
        }
    }
}

impl AddAssign for BleuStatistics {
    fn add_assign(&mut self, other: Self) {
        self.hypothesis_length += other.hypothesis_length;
        self.reference_length += other.reference_length;
        for n in 0..MAX_NGRAM_ORDER {
            self.correct[n] += other.correct[n];
            self.total[n] += other.total[n];
        }
    }
}

impl Add for BleuStatistics {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for BleuStatistics {
    fn sum<I: Iterator<Item = Self>>(segments: I) -> Self {
        segments.fold(Self::default(), Add::add)
    }
}

fn closest_length(hypothesis: usize, references: impl Iterator<Item = usize>) -> usize {
    references.min_by_key(|&length| (length.abs_diff(hypothesis), length)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&str> {
        line.split(' ').collect()
    }

    #[test]
    fn matches_are_clipped_by_the_best_reference() {
        // Papineni et al. 2002, example 2: seven times "the" against two, and one.
        let references = [words("the cat is on the mat"), words("there is a cat on the mat")];
        let statistics = BleuStatistics::from_tokens(&words("the the the the the the the"), &references);
        assert_eq!(statistics.correct, [2, 0, 0, 0]);
        assert_eq!(statistics.total, [7, 6, 5, 4]);
        assert_eq!((statistics.hypothesis_length, statistics.reference_length), (7, 7));
    }

    #[test]
    fn the_shorter_reference_wins_a_tie() {
        assert_eq!(closest_length(5, [7, 3].into_iter()), 3);
        assert_eq!(closest_length(5, [7, 2].into_iter()), 7);
    }

    #[test]
    fn segments_add_up() {
        let a = BleuStatistics::from_tokens(&words("a b c"), &[words("a b d")]);
        let b = BleuStatistics::from_tokens(&words("x"), &[words("x y")]);
        let sum: BleuStatistics = [a, b].into_iter().sum();
        assert_eq!(sum.correct, [3, 1, 0, 0]);
        assert_eq!(sum.total, [4, 2, 1, 0]);
        assert_eq!((sum.hypothesis_length, sum.reference_length), (4, 5));
        assert_eq!(sum.to_row(), [4.0, 5.0, 3.0, 1.0, 0.0, 0.0, 4.0, 2.0, 1.0, 0.0]);
        assert_eq!(BleuStatistics::from_row(&sum.to_row()), sum);
    }
}
