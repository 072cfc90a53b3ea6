//! Which source token a target token belongs to, read off the attention weights.
//!
//! Positions count tokens (pieces, where the tokenizer makes pieces) from 0, the source first.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The links `(source, target)`: each target token to the source token with its largest weight.
///
/// `attention` has one row a target token, and maybe one more for the end symbol; its last column is the source's end
/// symbol. Neither end symbol is linked. Of equal weights the first counts; a token that looks at no source token at all
/// has no link.
///
/// ```
/// let attention = [vec![0.1, 0.7, 0.2], vec![0.2, 0.1, 0.7], vec![0.0, 0.0, 1.0]];
/// let links = regard_decode::hard_alignment(&attention, 2);
/// assert_eq!(links, [(1, 0), (0, 1)]);
/// assert_eq!(regard_decode::pharaoh(&links), "1-0 0-1");
/// ```
#[must_use]
pub fn hard_alignment(attention: &[Vec<f32>], target_tokens: usize) -> Vec<(usize, usize)> {
    let rows = attention.iter().take(target_tokens).enumerate();
    rows.filter_map(|(target, row)| Some((strongest(row)?, target))).collect()
}

/// The source token with the largest weight, the end symbol in the last column left out.
pub(crate) fn strongest(row: &[f32]) -> Option<usize> {
    let (_end, words) = row.split_last()?;
    let mut best = None;
    let mut weight = 0.0;
    for (place, &value) in words.iter().enumerate() {
        if value > weight {
            (best, weight) = (Some(place), value);
        }
    }
    best
}

/// Links between words, made of links between tokens: words are linked where any of their tokens are. Sorted by target,
/// then source; tokens without a word have no links.
///
/// ```
/// let (source, target) = ([Some(0), Some(0), Some(1)], [Some(0), Some(1), Some(1)]);
/// assert_eq!(regard_decode::word_alignment(&[(1, 0), (0, 0), (2, 1), (1, 2)], &source, &target), [(0, 0), (0, 1), (1, 1)]);
/// ```
#[must_use]
pub fn word_alignment(
    links: &[(usize, usize)],
    source_words: &[Option<usize>],
    target_words: &[Option<usize>],
) -> Vec<(usize, usize)> {
    let word = |words: &[Option<usize>], token: usize| words.get(token).copied().flatten();
    let between =
        |&(source, target): &(usize, usize)| Some((word(target_words, target)?, word(source_words, source)?));
    let links: BTreeSet<(usize, usize)> = links.iter().filter_map(between).collect();
    links.into_iter().map(|(target, source)| (source, target)).collect()
}

/// Attention between words, made of attention between tokens: the sum over the tokens of a source word, the mean over those
/// of a target word, the end symbols as the last column and row. Tags have no column.
///
/// ```
/// let attention = [vec![0.5, 0.25, 0.25], vec![0.0, 0.5, 0.5], vec![0.0, 0.0, 1.0]];
/// let (source, target) = ([Some(0), Some(0)], [Some(0), Some(0)]);
/// assert_eq!(regard_decode::word_attention(&attention, &source, &target), [vec![0.625, 0.375], vec![0.0, 1.0]]);
/// ```
#[must_use]
pub fn word_attention(
    attention: &[Vec<f32>],
    source_words: &[Option<usize>],
    target_words: &[Option<usize>],
) -> Vec<Vec<f32>> {
    let count = |words: &[Option<usize>]| words.iter().flatten().max().map_or(0, |last| last + 1);
    let (columns, rows) = (count(source_words), count(target_words));
    let has_end = attention.len() > target_words.len();
    let mut merged = vec![vec![0.0; columns + 1]; rows + usize::from(has_end)];
    let mut tokens = vec![0.0_f32; merged.len()];
    for (step, weights) in attention.iter().enumerate() {
        let row = if step < target_words.len() { target_words[step] } else { Some(rows) };
        let Some(row) = row.filter(|&row| row < merged.len()) else { continue };
        tokens[row] += 1.0;
        for (place, weight) in weights.iter().enumerate() {
            let column = if place < source_words.len() { source_words[place] } else { Some(columns) };
            if let Some(column) = column {
                merged[row][column] += weight;
            }
        }
    }
    for (row, tokens) in merged.iter_mut().zip(tokens) {
        for weight in row {
            *weight /= tokens.max(1.0);
        }
    }
    merged
}

/// Links as Pharaoh and Moses write them: `source-target`, from 0, with spaces between.
#[must_use]
pub fn pharaoh(links: &[(usize, usize)]) -> String {
    let links: Vec<String> = links.iter().map(|(source, target)| format!("{source}-{target}")).collect();
    links.join(" ")
}

/// Weights as Marian writes soft alignments: target steps with spaces between, source weights with commas, both end
/// symbols included.
///
/// ```
/// assert_eq!(regard_decode::soft_alignment(&[vec![0.75, 0.25, 0.0], vec![0.0, 0.5, 0.5]]), "0.75,0.25,0 0,0.5,0.5");
/// ```
#[must_use]
pub fn soft_alignment(attention: &[Vec<f32>]) -> String {
    let mut line = String::new();
    for (step, row) in attention.iter().enumerate() {
        for (place, weight) in row.iter().enumerate() {
            let before = match (step, place) {
                (0, 0) => "",
                (_, 0) => " ",
                _ => ",",
            };
            // Writing to a string cannot fail.
            let _ = write!(line, "{before}{weight}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_are_linked() {
        assert_eq!(
            hard_alignment(&[vec![0.25, 0.25, 0.5]], 1),
            [(0, 0)],
            "the first of equal ones, never the end"
        );
        assert_eq!(hard_alignment(&[vec![1.0]], 1), [], "a source of nothing but its end");
        assert_eq!(hard_alignment(&[vec![0.0, 0.0, 1.0], vec![0.0, 0.1, 0.9]], 2), [(1, 1)]);
        assert_eq!(hard_alignment(&[], 0), []);
        assert_eq!(pharaoh(&[]), "");
        assert_eq!(soft_alignment(&[]), "");
    }
}
