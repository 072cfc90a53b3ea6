//! What can be wrong with the lines and settings that a metric is given.

use thiserror::Error;

/// Why a metric refuses its input.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EvalError {
    /// There is nothing to compare with.
    #[error("no reference was given: name at least one file of references")]
    NoReferences,
    /// A line has nothing to compare with.
    #[error("line {line} has no reference: every line needs at least one")]
    NoReferenceForLine {
        /// The line, from 1.
        line: usize,
    },
    /// There is nothing to score.
    #[error("no line was given: a metric needs at least one line of output")]
    NoLines,
    /// Lines are paired by position, so every side must have as many.
    #[error(
        "the output has {hypotheses} lines but {side} has {found}: give one line per sentence, in the same order"
    )]
    LineCounts {
        /// Number of output lines.
        hypotheses: usize,
        /// Which side differs, such as `reference 1` (counted from 1) or `the source`.
        side: String,
        /// Number of lines of that side.
        found: usize,
    },
    /// A length bucket is empty or touches the one before it.
    #[error(
        "length bucket {from}-{to} is not a range after the one before it: list ranges such as 1-10, 11-20 in order"
    )]
    Bucket {
        /// First length of the bucket, in words.
        from: usize,
        /// Last length of the bucket, in words.
        to: usize,
    },
    /// The tokenizer needs a program and a dictionary that are not part of this one.
    #[error(
        "the tokenizer {0} needs MeCab and its dictionary, which are not part of this program: \
         cut both sides with MeCab first and use the tokenizer none, or use char, or chrF"
    )]
    NeedsMecab(String),
    /// There is no such tokenizer.
    #[error("there is no tokenizer {0}: use 13a, none, intl, char or zh")]
    UnknownTokenizer(String),
    /// There is no such smoothing.
    #[error("there is no smoothing {0}: use none, floor, add-k or exp")]
    UnknownSmoothing(String),
    /// A value for a method that takes none.
    #[error("the smoothing {0} takes no value: only floor and add-k do")]
    NoSmoothingValue(String),
    /// A smoothing value that makes no score.
    #[error("the smoothing value {0} is not a number from 0 on")]
    SmoothingValue(f64),
    /// chrF without n-grams or weight.
    #[error("chrF with {0}: character n-grams need an order of at least 1, and beta must be at least 1")]
    ChrfOptions(String),
    /// Segment statistics that do not belong together.
    #[error("statistics of {left} and of {right} lines cannot be compared: both systems need the same lines")]
    Statistics {
        /// Lines of the first.
        left: usize,
        /// Lines of the second.
        right: usize,
    },
    /// Resampling without samples has no result.
    #[error("the number of samples is 0: a resampling test needs at least 1")]
    NoSamples,
}

/// Checks that `lines` has as many entries as there are hypotheses.
pub(crate) fn check_lines(hypotheses: usize, side: &str, found: usize) -> Result<(), EvalError> {
    if hypotheses == found {
        Ok(())
    } else {
        Err(EvalError::LineCounts { hypotheses, side: side.to_owned(), found })
    }
}

/// Checks that there is something to score, something to compare with, and one line of each reference per hypothesis.
pub(crate) fn check_pairing<T>(hypotheses: usize, references: &[impl AsRef<[T]>]) -> Result<(), EvalError> {
    if references.is_empty() {
        return Err(EvalError::NoReferences);
    }
    for (k, reference) in references.iter().enumerate() {
        check_lines(hypotheses, &format!("reference {}", k + 1), reference.as_ref().len())?;
    }
    if hypotheses == 0 { Err(EvalError::NoLines) } else { Ok(()) }
}
