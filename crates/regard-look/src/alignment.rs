//! Word alignments, read off what a model looked at.
//!
//! A matrix has a row for each token of the target and one for its end symbol, and a column for each token of the source;
//! further columns, such as that of the source's end symbol, are left out. What its numbers are is all the same: attention
//! weights, or anything else that is the larger the more a source token matters.

use std::collections::BTreeSet;

/// Which step is read for a target token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The one that writes it.
    Current,
    /// The one after, which reads it (Shift-Att of Chen et al. 2020, <https://aclanthology.org/2020.emnlp-main.42>).
    Next,
}

impl Reading {
    /// The rows of the target tokens; those that the matrix does not have are left out.
    #[must_use]
    pub fn rows(self, matrix: &[Vec<f32>], target_tokens: usize) -> &[Vec<f32>] {
        let first = match self {
            Self::Current => 0,
            Self::Next => 1,
        };
        let rows = matrix.get(first..).unwrap_or_default();
        &rows[..rows.len().min(target_tokens)]
    }
}

/// The links `(source word, target word)`: each target token belongs to the source token with the largest number in its row
/// (the first of equal ones), and two words are linked where any of their tokens are (Zenkel et al. 2019).
///
/// `source_words` and `target_words` say which word each token belongs to. Tokens without a word, such as tags, are left
/// out; so is a number that is not above `least`: a token that looks nowhere in particular has no link.
///
/// ```
/// use regard_look::{Reading, word_links};
/// // Two target words of one and two tokens; a source word of two tokens and one of one; then the end symbols.
/// let matrix = [
///     vec![0.1, 0.2, 0.6, 0.1],
///     vec![0.1, 0.5, 0.2, 0.2],
///     vec![0.4, 0.3, 0.2, 0.1],
///     vec![0.1, 0.1, 0.6, 0.2],
/// ];
/// let (source, target) = ([Some(0), Some(0), Some(1)], [Some(0), Some(1), Some(1)]);
/// let links = |reading: Reading| word_links(reading.rows(&matrix, 3), &source, &target, 0.0).into_iter().collect::<Vec<_>>();
/// assert_eq!(links(Reading::Current), [(0, 1), (1, 0)]);
/// assert_eq!(links(Reading::Next), [(0, 0), (0, 1), (1, 1)]);
/// ```
#[must_use]
pub fn word_links(
    rows: &[Vec<f32>],
    source_words: &[Option<usize>],
    target_words: &[Option<usize>],
    least: f32,
) -> BTreeSet<(usize, usize)> {
    let linked =
        |(row, target): (&Vec<f32>, &Option<usize>)| Some((strongest(row, source_words, least)?, (*target)?));
    rows.iter().zip(target_words).filter_map(linked).collect()
}

/// The word of the token with the largest number above the least.
fn strongest(row: &[f32], words: &[Option<usize>], least: f32) -> Option<usize> {
    let (mut best, mut largest) = (None, least);
    for (&value, word) in row.iter().zip(words) {
        if word.is_some() && value > largest {
            (best, largest) = (*word, value);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_are_linked() {
        // A tag in front takes all the weight, the end symbol the next most.
        let row = vec![0.5, 0.125, 0.125, 0.25];
        let links =
            |least| word_links(std::slice::from_ref(&row), &[None, Some(0), Some(1)], &[Some(0)], least);
        assert_eq!(links(0.0), BTreeSet::from([(0, 0)]), "the first of equal ones");
        assert_eq!(links(0.1), BTreeSet::from([(0, 0)]));
        assert!(links(0.125).is_empty(), "not above the least");
        assert!(
            word_links(&[vec![1.0, 0.0, 0.0]], &[None, Some(0)], &[Some(0)], 0.0).is_empty(),
            "nothing above 0"
        );
        assert!(word_links(&[vec![f32::NAN, 1.0]], &[Some(0)], &[Some(0)], 0.0).is_empty());
        assert!(
            word_links(&[vec![0.5, 0.5]], &[Some(0)], &[None], 0.0).is_empty(),
            "a target token without a word"
        );
        assert!(word_links(&[], &[Some(0)], &[Some(0)], 0.0).is_empty());
    }

    #[test]
    fn steps_that_are_not_there_are_left_out() {
        let matrix = [vec![1.0], vec![2.0], vec![3.0]];
        assert_eq!(Reading::Current.rows(&matrix, 2), &matrix[..2]);
        assert_eq!(Reading::Next.rows(&matrix, 2), &matrix[1..]);
        assert_eq!(
            Reading::Next.rows(&matrix, 3),
            &matrix[1..],
            "the target was cut: there is no step after its last"
        );
        assert!(Reading::Next.rows(&[], 3).is_empty());
    }
}
