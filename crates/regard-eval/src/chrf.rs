//! chrF (Popović 2015, <https://aclanthology.org/W15-3049>) and chrF++ (Popović 2017,
//! <https://aclanthology.org/W17-4770>) as sacreBLEU 2.x computes them.

use crate::error::EvalError;
use crate::metric::{Metric, ResampledScore};
use crate::ngrams::clipped_matches;
use crate::real::Real;
use crate::tokenizer::spacing::{is_space, split_words};

/// What stands for a precision or recall without n-grams.
const EPSILON: f64 = 1e-16;

/// The settings of chrF. The default is sacreBLEU's chrF2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a key of the signature")]
pub struct ChrfOptions {
    /// The longest character n-gram.
    pub char_order: usize,
    /// The longest word n-gram: 0 for chrF, 2 for chrF++.
    pub word_order: usize,
    /// How many times as much recall weighs as precision.
    pub beta: u32,
    /// Whether both sides are lower-cased first.
    pub lowercase: bool,
    /// Whether white space counts among the characters.
    pub whitespace: bool,
    /// Whether orders without n-grams count with a tiny value, as in chrF++.py, Moses and NLTK, where F is averaged
    /// over the orders. Otherwise such orders are left out and precision and recall are averaged.
    pub eps_smoothing: bool,
}

impl Default for ChrfOptions {
    fn default() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2,
            lowercase: false,
            whitespace: false,
            eps_smoothing: false,
        }
    }
}

impl ChrfOptions {
    /// chrF++: the default with word n-grams to order 2.
    #[must_use]
    pub fn plus_plus() -> Self {
        Self { word_order: 2, ..Self::default() }
    }

    /// Checks that the settings make a score.
    ///
    /// # Errors
    /// For a character order or a beta of 0.
    pub fn check(&self) -> Result<(), EvalError> {
        if self.char_order == 0 {
            Err(EvalError::ChrfOptions("a character order of 0".to_owned()))
        } else if self.beta == 0 {
            Err(EvalError::ChrfOptions("a beta of 0".to_owned()))
        } else {
            Ok(())
        }
    }

    /// `[output, reference, matches]` for every order, characters first.
    fn compare<'a>(&self, hypothesis: &'a Symbols, reference: &'a Symbols) -> Vec<f64> {
        let mut counts = Vec::with_capacity(self.width());
        push_counts(&mut counts, &hypothesis.characters, &reference.characters, self.char_order);
        let words = |symbols: &'a Symbols| symbols.words.iter().map(String::as_str).collect::<Vec<_>>();
        push_counts(&mut counts, &words(hypothesis), &words(reference), self.word_order);
        counts
    }

    fn symbols(&self, line: &str) -> Symbols {
        let line = if self.lowercase { line.to_lowercase() } else { line.to_owned() };
        let characters = line.chars().filter(|&c| self.whitespace || !is_space(c)).collect();
        let words = if self.word_order > 0 { words_and_punctuation(&line) } else { Vec::new() };
        Symbols { characters, words }
    }

    /// F in percent from the counts of every order.
    fn f_score<R: Real>(&self, counts: &[R]) -> R {
        let real = R::from_f64;
        let zero = real(0.0);
        let factor = f64::from(self.beta) * f64::from(self.beta);
        let f =
            |precision: R, recall: R, denominator: R| real(1.0 + factor) * precision * recall / denominator;
        let (mut sum_f, mut precisions, mut recalls, mut orders) = (zero, zero, zero, 0);
        let (triples, _) = counts.as_chunks::<3>();
        for &[output, reference, matches] in triples {
            let share = |total: R| if total > zero { matches / total } else { real(EPSILON) };
            let (precision, recall) = (share(output), share(reference));
            let denominator = real(factor) * precision + recall;
            sum_f =
                sum_f + if denominator > zero { f(precision, recall, denominator) } else { real(EPSILON) };
            if output > zero && reference > zero {
                (precisions, recalls, orders) = (precisions + precision, recalls + recall, orders + 1);
            }
        }
        if self.eps_smoothing {
            return real(100.0) * sum_f / real(triples.len() as f64);
        }
        if precisions + recalls == zero {
            return zero;
        }
        let orders = real(f64::from(orders));
        let (precision, recall) = (precisions / orders, recalls / orders);
        real(100.0) * f(precision, recall, real(factor) * precision + recall)
    }
}

impl Metric for ChrfOptions {
    /// `chrF2`, `chrF2++`: beta, and a plus for every word order.
    fn name(&self) -> String {
        format!("chrF{}{}", self.beta, "+".repeat(self.word_order))
    }

    fn settings(&self) -> String {
        let case = if self.lowercase { "lc" } else { "mixed" };
        let yes_no = |yes: bool| if yes { "yes" } else { "no" };
        let (effective, space) = (yes_no(!self.eps_smoothing), yes_no(self.whitespace));
        format!("case:{case}|eff:{effective}|nc:{}|nw:{}|space:{space}", self.char_order, self.word_order)
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn width(&self) -> usize {
        3 * (self.char_order + self.word_order)
    }

    /// The counts against the reference with the best F, the first one on ties.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        let hypothesis = self.symbols(hypothesis);
        let mut best = (-1.0, vec![0.0; self.width()]);
        for reference in references {
            let counts = self.compare(&hypothesis, &self.symbols(reference));
            let f = self.f_score(&counts);
            if f > best.0 {
                best = (f, counts);
            }
        }
        best.1
    }

    fn score_of(&self, sums: &[f64]) -> f64 {
        self.f_score(sums)
    }

    /// In single precision throughout, but for a score of 0.
    fn resampled_score(&self, sums: &[f32]) -> ResampledScore {
        let score = self.f_score(sums);
        if score == 0.0 { ResampledScore::Double(0.0) } else { ResampledScore::Single(score) }
    }
}

/// What n-grams are made of.
struct Symbols {
    characters: Vec<char>,
    words: Vec<String>,
}

fn push_counts<T: Ord + Copy>(counts: &mut Vec<f64>, hypothesis: &[T], reference: &[T], order: usize) {
    let matches = clipped_matches(hypothesis, &[reference], order);
    for (n, matches) in matches.into_iter().enumerate() {
        let (output, reference) = (hypothesis.len().saturating_sub(n), reference.len().saturating_sub(n));
        // An order that the reference has no n-grams for does not count against the output.
        let output = if reference == 0 { 0 } else { output };
        counts.extend([output as f64, reference as f64, matches as f64]);
    }
}

/// Words, with one mark of ASCII punctuation split off: the last character, else the first one.
fn words_and_punctuation(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in split_words(line) {
        let last = word.char_indices().next_back().filter(|&(at, c)| at > 0 && c.is_ascii_punctuation());
        let (first, rest) = match last {
            Some((at, _)) => word.split_at(at),
            None if word.starts_with(|c: char| c.is_ascii_punctuation()) => word.split_at(1),
            None => (word, ""),
        };
        words.extend([first, rest].into_iter().filter(|part| !part.is_empty()).map(str::to_owned));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    fn sentence(options: ChrfOptions, hypothesis: &str, references: &[&str]) -> f64 {
        options.score_of(&options.statistics(hypothesis, references))
    }

    #[test]
    fn one_mark_is_split_off() {
        assert_eq!(
            words_and_punctuation("(hi) «ok», -x ? é. ..."),
            ["(hi", ")", "«ok»", ",", "-", "x", "?", "é", ".", "..", "."]
        );
    }

    /// What sacreBLEU 2.6.0 gives.
    #[test]
    fn equals_sacrebleu() {
        let (hypothesis, references) = ("The cat sat (on it).", ["the cat sat on it .", "A cat (on it)."]);
        near(sentence(ChrfOptions::default(), hypothesis, &references), 71.995_786_402_175_71);
        near(sentence(ChrfOptions::plus_plus(), hypothesis, &references), 71.518_547_652_869_33);
        let options = ChrfOptions {
            char_order: 3,
            word_order: 1,
            beta: 3,
            lowercase: true,
            whitespace: true,
            eps_smoothing: true,
        };
        near(sentence(options, hypothesis, &references), 88.348_626_373_223_15);
        near(sentence(options, "ab", &["b"]), 22.727_272_727_272_734);
        near(sentence(ChrfOptions::default(), "ab", &["b"]), 83.333_333_333_333_34);
        near(sentence(ChrfOptions::default(), "", &[""]), 0.0);
        assert_eq!(options.name(), "chrF3+");
        assert_eq!(options.settings(), "case:lc|eff:no|nc:3|nw:1|space:yes");
    }

    #[test]
    fn settings_without_a_score_are_refused() {
        assert!(ChrfOptions { char_order: 0, ..ChrfOptions::default() }.check().is_err());
        assert!(ChrfOptions { beta: 0, ..ChrfOptions::default() }.check().is_err());
        assert_eq!(ChrfOptions::plus_plus().check(), Ok(()));
    }
}
