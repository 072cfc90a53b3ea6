//! Metrics over text: plain strings in, numbers out.
//!
//! Every score is a percentage between 0 and 100, and every score that others may want to compare comes with a
//! [signature](BleuOptions::signature) that names its settings. Nothing here reads a file, a clock or the locale.
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

mod bleu;
mod error;
mod exact_match;
mod length_buckets;
mod statistics;
mod tokenizer_13a;

pub use bleu::{BleuOptions, BleuScore, BleuTokenizer};
pub use error::EvalError;
pub use exact_match::{exact_match, word_error_rate};
pub use length_buckets::{LengthBucket, LengthBuckets, bleu_by_length};
pub use statistics::{BleuStatistics, MAX_NGRAM_ORDER};
pub use tokenizer_13a::tokenize_13a;
