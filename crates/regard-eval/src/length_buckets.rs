//! Scores by length, of the source or of the reference: where a model begins to lose the sentence.

use crate::bleu::BleuOptions;
use crate::corpus::Corpus;
use crate::error::{EvalError, check_lines};
use crate::metric::Metric;
use crate::segment_statistics::SegmentStatistics;
use crate::significance::{Resamples, Resampling};
use crate::tokenizer::spacing::split_words;
use serde::Serialize;

/// Ranges of lengths in words, in ascending order and without overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LengthBuckets(Vec<(usize, Option<usize>)>);

impl Default for LengthBuckets {
    /// 1–10, 11–20, 21–30, 31–40, 41–50, 51–60, and 61 or more words.
    fn default() -> Self {
        let tens = (0..6).map(|ten| (10 * ten + 1, Some(10 * ten + 10)));
        Self(tens.chain([(61, None)]).collect())
    }
}

impl LengthBuckets {
    /// Buckets from inclusive ranges of words, such as `[(3, 5), (6, 10)]`.
    ///
    /// # Errors
    /// When a range ends before it begins or begins before the one before it ends.
    pub fn new(ranges: &[(usize, usize)]) -> Result<Self, EvalError> {
        let mut least = 0;
        for &(from, to) in ranges {
            if from < least || to < from {
                return Err(EvalError::Bucket { from, to });
            }
            least = to.saturating_add(1);
        }
        Ok(Self(ranges.iter().map(|&(from, to)| (from, Some(to))).collect()))
    }
}

/// The score of the lines with `from` to `to` words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LengthBucket {
    /// Fewest words.
    pub from: usize,
    /// Most words; none for an open end.
    pub to: Option<usize>,
    /// Number of lines in the bucket.
    pub lines: usize,
    /// The corpus score of these lines in percent; none for a bucket without lines.
    pub score: Option<f64>,
    /// The lower end of the score's 95 % interval, from bootstrap samples of the bucket's lines.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl LengthBucket {
    /// The lengths in words: `11-20`, or `61+` where there is no end.
    #[must_use]
    pub fn range(&self) -> String {
        self.to.map_or_else(|| format!("{}+", self.from), |to| format!("{}-{to}", self.from))
    }
}

/// The number of words in each line, where a word is what stands between white space.
#[must_use]
pub fn word_lengths<S: AsRef<str>>(lines: &[S]) -> Vec<usize> {
    lines.iter().map(|line| split_words(line.as_ref()).count()).collect()
}

/// The score of a metric per bucket of length, with an interval from `resampling`; `lengths` has one entry a line.
///
/// A line whose length is in no bucket counts nowhere: with the default buckets those are lines of no word.
///
/// # Errors
/// When there is another number of lengths than of lines.
pub fn score_by_length(
    metric: &dyn Metric,
    statistics: &SegmentStatistics,
    lengths: &[usize],
    buckets: &LengthBuckets,
    resampling: Resampling,
) -> Result<Vec<LengthBucket>, EvalError> {
    check_lines(statistics.lines(), "the side whose lengths count", lengths.len())?;
    let bucket = |&(from, to): &(usize, Option<usize>)| {
        let inside = |length: usize| length >= from && to.is_none_or(|to| length <= to);
        let inside = statistics.select(|line| lengths.get(line).copied().is_some_and(inside));
        let lines = inside.lines();
        let score = (lines > 0).then(|| metric.score_of(&inside.sums()));
        let interval = (lines > 0).then(|| Resamples::draw(metric, &inside, resampling).interval());
        // exp(ln 100) is a little more than 100 in floating point, in samples too.
        let most = if metric.higher_is_better() { 100.0 } else { f64::INFINITY };
        let (low, high) = (interval.map(|i| i.low.min(most)), interval.map(|i| i.high.min(most)));
        LengthBucket { from, to, lines, score, low, high }
    };
    Ok(buckets.0.iter().map(bucket).collect())
}

/// Corpus BLEU per bucket of source length, as [`score_by_length`].
///
/// `references[k][i]` is the k-th reference of `hypotheses[i]`.
///
/// # Errors
/// As [`BleuOptions::corpus`], and when the source has another number of lines.
pub fn bleu_by_length<S: AsRef<str>, H: AsRef<str>, T: AsRef<str>>(
    sources: &[S],
    hypotheses: &[H],
    references: &[impl AsRef<[T]>],
    buckets: &LengthBuckets,
    options: &BleuOptions,
) -> Result<Vec<LengthBucket>, EvalError> {
    check_lines(hypotheses.len(), "the source", sources.len())?;
    let statistics = SegmentStatistics::new(options, &Corpus::new(hypotheses, references)?);
    score_by_length(options, &statistics, &word_lengths(sources), buckets, Resampling::BOOTSTRAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_counts_in_its_bucket() -> Result<(), EvalError> {
        let sources = ["one two three", "1 2 3 4 5", "1 2 3 4 5 6", "", "1 2 3 4 5 6 7 8 9 10 11"];
        let hypotheses = ["a b c d", "nothing right at all", "a b c d", "z", "a b c d"];
        let references = [["a b c d", "a b c d", "a b c d", "z", "a b c d"]];
        let buckets = LengthBuckets::new(&[(3, 5), (6, 10), (20, 30)])?;
        let found = bleu_by_length(&sources, &hypotheses, &references, &buckets, &BleuOptions::default())?;
        let lines: Vec<usize> = found.iter().map(|bucket| bucket.lines).collect();
        assert_eq!(lines, [2, 1, 0]);
        let half = BleuOptions::default().corpus(&hypotheses[..2], &[&references[0][..2]])?;
        assert_eq!(found[0].score, Some(half.score));
        assert!(half.score > 10.0 && half.score < 60.0);
        assert!(
            found[0].low == Some(0.0) && found[0].high > Some(99.9),
            "one line of two, or both: {found:?}"
        );
        assert_eq!(found[1].score, Some(100.0));
        assert!(found[1].low == found[1].high && found[1].low > Some(99.9));
        assert_eq!((found[2].score, found[2].low, found[2].high), (None, None, None));

        let default = bleu_by_length(
            &sources,
            &hypotheses,
            &references,
            &LengthBuckets::default(),
            &BleuOptions::default(),
        )?;
        let lines: Vec<usize> = default.iter().map(|bucket| bucket.lines).collect();
        assert_eq!(lines, [3, 1, 0, 0, 0, 0, 0]);
        let json = serde_json::to_string(&default[6]).unwrap();
        assert_eq!(json, r#"{"from":61,"to":null,"lines":0,"score":null,"low":null,"high":null}"#);
        Ok(())
    }

    #[test]
    fn bad_ranges_and_counts_are_refused() {
        for ranges in [&[(5, 3)][..], &[(1, 5), (5, 9)], &[(1, usize::MAX), (2, 3)]] {
            assert!(matches!(LengthBuckets::new(ranges), Err(EvalError::Bucket { .. })), "{ranges:?}");
        }
        let result = bleu_by_length(
            &["a"],
            &["a", "b"],
            &[["a", "b"]],
            &LengthBuckets::default(),
            &BleuOptions::default(),
        );
        assert_eq!(
            result.unwrap_err().to_string(),
            "the output has 2 lines but the source has 1: give one line per sentence, in the same order"
        );
    }
}
