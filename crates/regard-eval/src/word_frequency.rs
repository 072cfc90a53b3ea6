//! How well words are translated by how often they stood in the training text (as in compare-mt, Neubig et al. 2019,
//! <https://aclanthology.org/N19-4007>).

use crate::bleu::BleuOptions;
use crate::error::{EvalError, check_lines};
use crate::metric::Metric;
use crate::segment_statistics::SegmentStatistics;
use crate::significance::{Resamples, Resampling};
use serde::Serialize;
use std::collections::HashMap;

/// The bands: fewest and most occurrences in the training text.
const BANDS: [(usize, Option<usize>); 9] = [
    (0, Some(0)),
    (1, Some(1)),
    (2, Some(2)),
    (3, Some(3)),
    (4, Some(4)),
    (5, Some(9)),
    (10, Some(99)),
    (100, Some(999)),
    (1000, None),
];

/// How often each word stands in a training text.
#[derive(Debug, Clone, Default)]
pub struct WordFrequencies {
    counts: HashMap<String, usize>,
    options: BleuOptions,
}

impl WordFrequencies {
    /// Counts the words of a text. Words, here and in what is compared, are the tokens of BLEU under `options`.
    #[must_use]
    pub fn new<S: AsRef<str>>(text: &[S], options: &BleuOptions) -> Self {
        let mut counts = HashMap::new();
        for word in text.iter().flat_map(|line| options.tokenize(line.as_ref())) {
            *counts.entry(word).or_insert(0) += 1;
        }
        Self { counts, options: *options }
    }

    /// The band of a word.
    fn band(&self, word: &str) -> usize {
        let count = self.counts.get(word).copied().unwrap_or(0);
        BANDS.iter().rposition(|&(from, _)| from <= count).unwrap_or(0)
    }

    /// For each band, what is counted in one line.
    fn count(&self, hypothesis: &str, reference: &str) -> [[f64; 3]; BANDS.len()] {
        let mut bands = [[0.0; 3]; BANDS.len()];
        let mut wanted: HashMap<String, usize> = HashMap::new();
        for word in self.options.tokenize(reference) {
            bands[self.band(&word)][2] += 1.0;
            *wanted.entry(word).or_insert(0) += 1;
        }
        for word in self.options.tokenize(hypothesis) {
            let band = &mut bands[self.band(&word)];
            band[1] += 1.0;
            if let Some(left) = wanted.get_mut(&word).filter(|left| **left > 0) {
                *left -= 1;
                band[0] += 1.0;
            }
        }
        bands
    }
}

/// How well the words of one band are translated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrequencyBand {
    /// Fewest occurrences in the training text.
    pub from: usize,
    /// Most occurrences; none for an open end.
    pub to: Option<usize>,
    /// Words of the reference in this band.
    pub words: usize,
    /// Word F1 in percent; none without such words on either side.
    pub score: Option<f64>,
    /// The lower end of the score's 95 % interval, from bootstrap samples of the lines.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

/// Word F1 for each band of frequency.
///
/// F1 = 200 · matches / (words of the output + words of the reference), over the words of the band. In each line a word
/// matches as often as it stands on both sides, wherever it stands.
///
/// # Errors
/// Without lines, and when both sides have different numbers of them.
pub fn word_f1_by_frequency<H: AsRef<str>, T: AsRef<str>>(
    hypotheses: &[H],
    reference: &[T],
    frequencies: &WordFrequencies,
    resampling: Resampling,
) -> Result<Vec<FrequencyBand>, EvalError> {
    check_lines(hypotheses.len(), "the reference", reference.len())?;
    if hypotheses.is_empty() {
        return Err(EvalError::NoLines);
    }
    let lines = hypotheses.iter().zip(reference);
    let counts: Vec<_> = lines.map(|(h, r)| frequencies.count(h.as_ref(), r.as_ref())).collect();
    let bands = BANDS.iter().enumerate().map(|(band, &(from, to))| {
        let rows = counts.iter().flat_map(|line| line[band]).collect();
        let statistics = SegmentStatistics::from_values(WordF1.width(), rows);
        let sums = statistics.sums();
        let some = sums[1] + sums[2] > 0.0;
        let interval = some.then(|| Resamples::draw(&WordF1, &statistics, resampling).interval());
        FrequencyBand {
            from,
            to,
            words: sums[2] as usize,
            score: some.then(|| WordF1.score_of(&sums)),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    });
    Ok(bands.collect())
}

/// F1 over matches, words of the output and words of the reference.
struct WordF1;

impl Metric for WordF1 {
    fn name(&self) -> String {
        "word F1".to_owned()
    }

    fn settings(&self) -> String {
        String::new()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn width(&self) -> usize {
        3
    }

    fn statistics(&self, _hypothesis: &str, _references: &[&str]) -> Vec<f64> {
        vec![0.0; self.width()]
    }

    fn score_of(&self, sums: &[f64]) -> f64 {
        match *sums {
            [matches, output, reference] if output + reference > 0.0 => {
                200.0 * matches / (output + reference)
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_in_their_bands() {
        let text = ["the the the the the cat cat saw"; 2];
        let frequencies = WordFrequencies::new(&text, &BleuOptions::default());
        let hypotheses = ["the cat saw the dog .", "the the emu"];
        let reference = ["The cat saw a dog.", "the emu"];
        let bands =
            word_f1_by_frequency(&hypotheses, &reference, &frequencies, Resampling::BOOTSTRAP).unwrap();
        let ranges: Vec<_> = bands.iter().map(|band| (band.from, band.to)).collect();
        assert_eq!(ranges, BANDS);
        let words: Vec<usize> = bands.iter().map(|band| band.words).collect();
        assert_eq!(words, [5, 0, 1, 0, 1, 0, 1, 0, 0]);
        // Unseen: "The", "a", "dog", ".", "emu" are wanted; "dog", ".", "emu" are there.
        assert_eq!(bands[0].score, Some(75.0));
        assert_eq!(bands[2].score, Some(100.0));
        assert_eq!(bands[4].score, Some(100.0));
        // Ten times "the": four in the output, one in the reference.
        assert_eq!(bands[6].score, Some(40.0));
        assert_eq!((bands[6].low, bands[6].high), (Some(0.0), Some(200.0 / 3.0)));
        assert_eq!((bands[1].score, bands[1].low), (None, None));
    }

    #[test]
    fn unequal_counts_are_refused() {
        let frequencies = WordFrequencies::default();
        assert!(word_f1_by_frequency(&["a"], &["a", "b"], &frequencies, Resampling::BOOTSTRAP).is_err());
        let none = word_f1_by_frequency::<&str, &str>(&[], &[], &frequencies, Resampling::BOOTSTRAP);
        assert_eq!(none, Err(EvalError::NoLines));
    }
}
