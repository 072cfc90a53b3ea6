//! Metrics over text and word alignments: plain data in, numbers out. Those of text agree with sacreBLEU 2.6.0 to the last digit.
//!
//! | metric | settings |
//! |---|---|
//! | BLEU | [`BleuOptions`], with five [tokenizers](BleuTokenizer) and four [smoothings](Smoothing) |
//! | chrF, chrF++ | [`ChrfOptions`] |
//! | TER | [`TerOptions`] |
//! | WER, CER | [`ErrorRateOptions`] |
//! | exact match | [`ExactMatch`] |
//!
//! A [`Metric`] counts a few numbers in each line. Their sums give the score of the corpus, and of any selection of its lines: of
//! [length buckets](score_by_length), and of the samples of [intervals](Resamples) and [paired tests](PairedTest).
//!
//! Scores of [alignments](AlignmentScore) are fractions from 0 to 1. Every other score is a percentage; all but the error rates lie between 0 and 100. Every score that others may want to compare comes
//! with a [signature](Signature) that names its settings. Nothing here reads a file, a clock or the locale.
//!
//! ```
//! use regard_eval::BleuOptions;
//!
//! let options = BleuOptions::default();
//! let score = options.corpus(&["a small dog sleeps here"], &[["a small dog sleeps here"]])?;
//! assert_eq!(score.score, 100.0);
//! assert_eq!(options.signature(1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:regard-0.1.0");
//! # Ok::<(), regard_eval::EvalError>(())
//! ```
//!
//! Any metric through the same few calls:
//!
//! ```
//! use regard_eval::{Corpus, Metric, SegmentStatistics, TerOptions};
//!
//! let ter = TerOptions::default();
//! let corpus = Corpus::new(&["on the mat the cat sat"], &[["the cat sat on the mat"]])?;
//! let statistics = SegmentStatistics::new(&ter, &corpus);
//! assert_eq!(format!("{:.1}", ter.score_of(&statistics.sums())), "16.7"); // one shift, six words
//! # Ok::<(), regard_eval::EvalError>(())
//! ```

mod alignment;
mod bleu;
mod bleu_statistics;
mod chrf;
mod corpus;
mod error;
mod error_rate;
mod exact_match;
mod length_buckets;
mod metric;
mod ngrams;
mod real;
mod segment_statistics;
mod signature;
mod significance;
mod smoothing;
mod ter;
mod tokenizer;
mod word_frequency;

pub use alignment::{
    AlignmentCounts, AlignmentError, AlignmentFile, AlignmentScore, GoldLinks, Links, Symmetrization,
    alignment_counts, transpose,
};
pub use bleu::{BleuOptions, BleuScore};
pub use bleu_statistics::{BleuStatistics, MAX_NGRAM_ORDER};
pub use chrf::ChrfOptions;
pub use corpus::Corpus;
pub use error::EvalError;
pub use error_rate::{ErrorRateOptions, ErrorUnit};
pub use exact_match::{ExactMatch, exact_match, word_error_rate};
pub use length_buckets::{LengthBucket, LengthBuckets, bleu_by_length, score_by_length, word_lengths};
pub use metric::{Metric, ResampledScore};
pub use segment_statistics::SegmentStatistics;
pub use signature::{ResamplingKind, Signature};
pub use significance::{Interval, PairedTest, Resamples, Resampling};
pub use smoothing::Smoothing;
pub use ter::TerOptions;
pub use tokenizer::{BleuTokenizer, tokenize_13a};
pub use word_frequency::{FrequencyBand, WordFrequencies, word_f1_by_frequency};
