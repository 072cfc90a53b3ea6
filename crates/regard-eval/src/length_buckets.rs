//! BLEU by the length of the source: where a model begins to lose the sentence.

use crate::bleu::BleuOptions;
use crate::error::{EvalError, check_lines};
use crate::tokenizer_13a::split_words;
use serde::Serialize;

/// Ranges of source lengths in words, in ascending order and without overlap.
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

/// The score of the lines whose source has `from` to `to` words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LengthBucket {
    /// Fewest words.
    pub from: usize,
    /// Most words; none for an open end.
    pub to: Option<usize>,
    /// Number of lines in the bucket.
    pub lines: usize,
    /// Corpus BLEU of these lines in percent; none for a bucket without lines.
    pub score: Option<f64>,
}

impl LengthBucket {
    /// The lengths in words: `11-20`, or `61+` where there is no end.
    #[must_use]
    pub fn range(&self) -> String {
        self.to.map_or_else(|| format!("{}+", self.from), |to| format!("{}-{to}", self.from))
    }
}

/// Corpus BLEU per bucket of source length, where a word is what stands between white space.
///
/// `references[k][i]` is the k-th reference of `hypotheses[i]`. A line whose source length is in no bucket counts
/// nowhere: with the default buckets those are the lines with a blank source.
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
    let segments = options.segments(hypotheses, references)?;
    let lengths: Vec<usize> = sources.iter().map(|source| split_words(source.as_ref()).count()).collect();
    let buckets = buckets.0.iter().map(|&(from, to)| {
        let inside: Vec<_> = lengths
            .iter()
            .zip(&segments)
            .filter(|&(&length, _)| length >= from && to.is_none_or(|to| length <= to))
            .map(|(_, &statistics)| statistics)
            .collect();
        let lines = inside.len();
        let score = (lines > 0).then(|| options.score(&inside.into_iter().sum()).score);
        LengthBucket { from, to, lines, score }
    });
    Ok(buckets.collect())
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
        assert_eq!(found[1].score, Some(100.0));
        assert_eq!(found[2].score, None);

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
        assert_eq!(json, r#"{"from":61,"to":null,"lines":0,"score":null}"#);
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
