//! The alignment error rate (Och and Ney 2003, <https://aclanthology.org/J03-1002>).

use super::links::{GoldLinks, Links};
use crate::error::{EvalError, check_lines};
use serde::Serialize;
use std::iter::Sum;
use std::ops::Add;

/// What alignment scores are made of: sizes of A (the links that are judged), S (the sure links) and P (the possible ones), of
/// one sentence pair or of many added together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlignmentCounts {
    /// |A|.
    pub links: usize,
    /// |S|.
    pub sure: usize,
    /// |P|, the sure links included.
    pub possible: usize,
    /// |A ∩ S|.
    pub links_in_sure: usize,
    /// |A ∩ P|.
    pub links_in_possible: usize,
}

/// The scores of an alignment, fractions from 0 to 1. A share of nothing is 1: who links nothing has no wrong link, and
/// where no link is sure none is missing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AlignmentScore {
    /// Alignment error rate: 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|).
    pub aer: f64,
    /// |A ∩ P| / |A|.
    pub precision: f64,
    /// |A ∩ S| / |S|.
    pub recall: f64,
    /// 2 · precision · recall / (precision + recall).
    pub f1: f64,
    /// |A|.
    pub links: usize,
    /// |S|.
    pub sure: usize,
    /// |P|, the sure links included.
    pub possible: usize,
}

impl AlignmentCounts {
    /// Compares the links of one sentence pair with those that people made.
    #[must_use]
    pub fn of(links: &Links, gold: &GoldLinks) -> Self {
        Self {
            links: links.len(),
            sure: gold.sure().len(),
            possible: gold.possible().len(),
            links_in_sure: links.intersection(gold.sure()).count(),
            links_in_possible: links.intersection(gold.possible()).count(),
        }
    }

    /// The scores from the counts.
    ///
    /// ```
    /// use regard_eval::{AlignmentCounts, GoldLinks, Links};
    /// let gold = GoldLinks::new(Links::from([(0, 0), (1, 2)]), Links::from([(2, 2)]));
    /// let score = AlignmentCounts::of(&Links::from([(0, 0), (2, 2), (3, 3)]), &gold).score();
    /// assert_eq!((score.precision, score.recall), (2.0 / 3.0, 0.5));
    /// assert!((score.aer - 0.4).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn score(&self) -> AlignmentScore {
        let Self { links, sure, possible, links_in_sure, links_in_possible } = *self;
        let precision = share(links_in_possible, links);
        let recall = share(links_in_sure, sure);
        let sum = precision + recall;
        AlignmentScore {
            aer: 1.0 - share(links_in_sure + links_in_possible, links + sure),
            precision,
            recall,
            f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 },
            links,
            sure,
            possible,
        }
    }
}

impl Add for AlignmentCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            links: self.links + other.links,
            sure: self.sure + other.sure,
            possible: self.possible + other.possible,
            links_in_sure: self.links_in_sure + other.links_in_sure,
            links_in_possible: self.links_in_possible + other.links_in_possible,
        }
    }
}

impl Sum for AlignmentCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

/// The counts of every sentence pair, in order. The score of a corpus is that of their sum.
///
/// # Errors
/// Without sentences, or when the two sides have different numbers of them.
pub fn alignment_counts(hypotheses: &[Links], gold: &[GoldLinks]) -> Result<Vec<AlignmentCounts>, EvalError> {
    check_lines(hypotheses.len(), "the gold alignment", gold.len())?;
    if hypotheses.is_empty() {
        return Err(EvalError::NoLines);
    }
    Ok(hypotheses.iter().zip(gold).map(|(links, gold)| AlignmentCounts::of(links, gold)).collect())
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the same operations give the same bits")]
mod tests {
    use super::*;

    fn scores(links: &[(usize, usize)], sure: &[(usize, usize)], possible: &[(usize, usize)]) -> [f64; 4] {
        let [links, sure, possible] = [links, sure, possible].map(|links| links.iter().copied().collect());
        let score = AlignmentCounts::of(&links, &GoldLinks::new(sure, possible)).score();
        [score.aer, score.precision, score.recall, score.f1]
    }

    #[test]
    fn empty_sets() {
        let some = [(2, 3)];
        assert_eq!(scores(&[], &[], &[]), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!(scores(&[], &some, &[]), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(scores(&some, &[], &[]), [1.0, 0.0, 1.0, 0.0]);
        assert_eq!(scores(&some, &[], &some), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!(scores(&some, &[(1, 1)], &[]), [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn counts_of_a_corpus_are_summed() {
        let gold = |sure: &[(usize, usize)]| GoldLinks::new(sure.iter().copied().collect(), Links::new());
        let hypotheses = [Links::from([(0, 0)]), Links::from([(0, 1), (1, 0), (1, 1)])];
        let counts =
            alignment_counts(&hypotheses, &[gold(&[(0, 0)]), gold(&[(0, 0), (1, 1), (2, 2)])]).unwrap();
        assert_eq!(
            counts.iter().map(|counts| counts.score().aer).collect::<Vec<_>>(),
            [0.0, 1.0 - 2.0 / 6.0]
        );
        let total: AlignmentCounts = counts.into_iter().sum();
        assert_eq!(
            total,
            AlignmentCounts { links: 4, sure: 4, possible: 4, links_in_sure: 2, links_in_possible: 2 }
        );
        assert_eq!(total.score().aer, 0.5);
    }

    #[test]
    fn unequal_counts_are_refused() {
        assert_eq!(alignment_counts(&[], &[]), Err(EvalError::NoLines));
        let error = alignment_counts(&[Links::new()], &[]).unwrap_err();
        assert!(error.to_string().contains("1 lines but the gold alignment has 0"), "{error}");
    }
}
