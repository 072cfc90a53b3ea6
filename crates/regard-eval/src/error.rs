//! What can be wrong with the lines that a metric is given.

use thiserror::Error;

/// Why a metric refuses its input.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EvalError {
    /// There is nothing to compare with.
    #[error("no reference was given: name at least one file of references")]
    NoReferences,
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
