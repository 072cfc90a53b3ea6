//! Which source token a target token belongs to, read off the attention weights.
//!
//! Positions count tokens (pieces, where the tokenizer makes pieces) from 0, the source first.

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
