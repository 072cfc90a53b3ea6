//! Word and character error rate: edit distance over reference length, as speech recognition counts it.

use crate::metric::Metric;
use crate::tokenizer::spacing::{is_space, split_words};

/// What is inserted, deleted and replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorUnit {
    /// The words between white space.
    Word,
    /// Characters. White space at both ends does not count, inside it does.
    Character,
}

/// WER or CER: 100 · Σ edits / Σ reference length over the corpus (Levenshtein 1966; no shifts).
///
/// Of several references the one with the fewest edits counts, the longer one on ties.
///
/// ```
/// use regard_eval::{ErrorRateOptions, ErrorUnit, Metric};
///
/// let wer = ErrorRateOptions { unit: ErrorUnit::Word, lowercase: false };
/// assert_eq!(wer.score_of(&wer.statistics("a b d", &["a b c d"])), 25.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRateOptions {
    /// Words or characters.
    pub unit: ErrorUnit,
    /// Whether both sides are lower-cased first.
    pub lowercase: bool,
}

impl ErrorRateOptions {
    /// The edits and the reference's length.
    fn compare(self, hypothesis: &str, reference: &str) -> (usize, usize) {
        match self.unit {
            ErrorUnit::Word => {
                let words = |line| split_words(line).collect::<Vec<_>>();
                let (hypothesis, reference) = (words(hypothesis), words(reference));
                (edit_distance(&hypothesis, &reference), reference.len())
            }
            ErrorUnit::Character => {
                let characters = |line: &str| line.trim_matches(is_space).chars().collect::<Vec<_>>();
                let (hypothesis, reference) = (characters(hypothesis), characters(reference));
                (edit_distance(&hypothesis, &reference), reference.len())
            }
        }
    }
}

impl Metric for ErrorRateOptions {
    fn name(&self) -> String {
        match self.unit {
            ErrorUnit::Word => "WER".to_owned(),
            ErrorUnit::Character => "CER".to_owned(),
        }
    }

    fn settings(&self) -> String {
        format!("case:{}", if self.lowercase { "lc" } else { "mixed" })
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn width(&self) -> usize {
        2
    }

    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        let cased = |line: &str| if self.lowercase { line.to_lowercase() } else { line.to_owned() };
        let hypothesis = cased(hypothesis);
        let compared = references.iter().map(|reference| self.compare(&hypothesis, &cased(reference)));
        let best = compared.min_by_key(|&(edits, length)| (edits, std::cmp::Reverse(length)));
        let (edits, length) = best.unwrap_or((0, 0));
        vec![edits as f64, length as f64]
    }

    /// Without a word in the references every output is wrong: 100, and nothing against nothing is right: 0.
    fn score_of(&self, sums: &[f64]) -> f64 {
        match *sums {
            [edits, length, ..] if length > 0.0 => 100.0 * edits / length,
            [edits, ..] if edits > 0.0 => 100.0,
            _ => 0.0,
        }
    }
}

/// The smallest number of insertions, deletions and replacements that turn one side into the other.
fn edit_distance<T: PartialEq>(from: &[T], to: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let (mut diagonal, mut left) = (i, i + 1);
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cost, b) in row.iter_mut().skip(1).zip(to) {
            left = (diagonal + usize::from(a != b)).min(*cost + 1).min(left + 1);
            diagonal = std::mem::replace(cost, left);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "equal to the bit")]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let distance = |a: &str, b: &str| edit_distance(a.as_bytes(), b.as_bytes());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("flaw", "lawn"), 2);
    }

    #[test]
    fn rates() {
        let wer = ErrorRateOptions { unit: ErrorUnit::Word, lowercase: true };
        let cer = ErrorRateOptions { unit: ErrorUnit::Character, lowercase: false };
        assert_eq!(wer.statistics("The  CAT sat ", &["a dog", "the cat sat down", "cat sat"]), [1.0, 4.0]);
        assert_eq!(cer.statistics(" é a", &["e a"]), [1.0, 3.0]);
        assert_eq!(wer.score_of(&[3.0, 0.0]), 100.0);
        assert_eq!(wer.score_of(&[0.0, 0.0]), 0.0);
        assert_eq!((wer.name(), cer.settings()), ("WER".into(), "case:mixed".into()));
    }
}
