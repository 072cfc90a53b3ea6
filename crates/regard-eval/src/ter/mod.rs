//! TER (Snover et al. 2006, <https://aclanthology.org/2006.amta-papers.25>) as tercom and sacreBLEU 2.x compute it.

mod edit_distance;
mod shifts;
mod tokenizer;

use crate::metric::{Metric, ResampledScore};
use crate::real::Real;
use std::collections::HashMap;

/// The settings of TER. The default is tercom's: no case, words between spaces, punctuation counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a key of the signature")]
pub struct TerOptions {
    /// Whether punctuation is set apart first.
    pub normalized: bool,
    /// Whether punctuation is dropped.
    pub no_punct: bool,
    /// Whether `normalized` also cuts Chinese and Japanese text into characters, and `no_punct` also drops its punctuation.
    pub asian_support: bool,
    /// Whether case counts.
    pub case_sensitive: bool,
}

impl Metric for TerOptions {
    fn name(&self) -> String {
        "TER".to_owned()
    }

    fn settings(&self) -> String {
        let case = if self.case_sensitive { "mixed" } else { "lc" };
        let yes_no = |yes: bool| if yes { "yes" } else { "no" };
        let (normalized, asian) = (yes_no(self.normalized), yes_no(self.asian_support));
        format!("case:{case}|tok:tercom|norm:{normalized}|punct:{}|asian:{asian}", yes_no(!self.no_punct))
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn width(&self) -> usize {
        2
    }

    /// The edits against the reference that needs fewest, and the mean length of the references.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        let hypothesis = self.tokenize(hypothesis);
        let references: Vec<_> =
            references.iter().map(|reference| self.tokenize_reference(reference)).collect();
        let mut numbers = HashMap::new();
        let mut numbered = |words: &[String]| -> Vec<u32> {
            let number = |word: &String| {
                let next = numbers.len() as u32;
                *numbers.entry(word.clone()).or_insert(next)
            };
            words.iter().map(number).collect()
        };
        let hypothesis = numbered(&hypothesis);
        let references: Vec<_> = references.iter().map(|reference| numbered(reference)).collect();
        let fewest = references.iter().map(|reference| shifts::edits(&hypothesis, reference)).min();
        let length: usize = references.iter().map(Vec::len).sum();
        vec![fewest.unwrap_or(0) as f64, length as f64 / references.len().max(1) as f64]
    }

    fn score_of(&self, sums: &[f64]) -> f64 {
        rate(sums)
    }

    /// In single precision, except without reference words.
    fn resampled_score(&self, sums: &[f32]) -> ResampledScore {
        let score = rate(sums);
        match sums {
            [_, length] if *length > 0.0 => ResampledScore::Single(score),
            _ => ResampledScore::Double(f64::from(score)),
        }
    }
}

/// Edits per reference word, in percent. Words without a reference are as many errors: 100.
fn rate<R: Real>(sums: &[R]) -> R {
    let (zero, hundred) = (R::from_f64(0.0), R::from_f64(100.0));
    match *sums {
        [edits, length, ..] if length > zero => hundred * (edits / length),
        [edits, ..] if edits > zero => hundred,
        _ => zero,
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "equal to the bit")]
mod tests {
    use super::*;

    #[test]
    fn scores_and_signature() {
        let ter = TerOptions::default();
        let score = |hypothesis, references: &[&str]| ter.score_of(&ter.statistics(hypothesis, references));
        assert_eq!(score("the cat sat", &["The cat sat"]), 0.0);
        assert_eq!(score("on the mat sat the cat", &["the cat sat on the mat", "x y"]), 50.0);
        assert_eq!(score("a b", &[""]), 100.0);
        assert_eq!(score("", &[""]), 0.0);
        assert_eq!(score("", &["a b"]), 100.0);
        assert_eq!(ter.settings(), "case:lc|tok:tercom|norm:no|punct:yes|asian:no");
    }
}
