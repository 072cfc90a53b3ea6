//! Exact match: for tasks with one right answer, such as copying, reversing and pronunciation.

use crate::error::{EvalError, check_pairing};

/// Percentage of lines that equal one of their references, `references[k][i]` being the k-th of `hypotheses[i]`.
/// White space at both ends is ignored.
///
/// ```
/// # use regard_eval::exact_match;
/// assert_eq!(exact_match(&["a b", "c", "d", "e"], &[["a b", "c", "x", "y"]])?, 50.0);
/// # Ok::<(), regard_eval::EvalError>(())
/// ```
///
/// # Errors
/// Without lines, without references, or when a reference has another number of lines.
pub fn exact_match<H: AsRef<str>, T: AsRef<str>>(
    hypotheses: &[H],
    references: &[impl AsRef<[T]>],
) -> Result<f64, EvalError> {
    check_pairing(hypotheses.len(), references)?;
    let mut right = vec![false; hypotheses.len()];
    for reference in references {
        for ((right, hypothesis), reference) in right.iter_mut().zip(hypotheses).zip(reference.as_ref()) {
            *right |= hypothesis.as_ref().trim() == reference.as_ref().trim();
        }
    }
    let count = right.iter().filter(|&&right| right).count();
    Ok(100.0 * count as f64 / hypotheses.len() as f64)
}

/// Word error rate as pronunciation tasks use it, one word a line: percentage of lines that equal no reference, that
/// is 100 − [`exact_match`].
///
/// # Errors
/// As [`exact_match`].
pub fn word_error_rate<H: AsRef<str>, T: AsRef<str>>(
    hypotheses: &[H],
    references: &[impl AsRef<[T]>],
) -> Result<f64, EvalError> {
    exact_match(hypotheses, references).map(|right| 100.0 - right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_reference_will_do() {
        let references = [["k ae t", "d ao g", "r eh d", "x"], ["k a t", "d aa g", "r iy d", "y"]];
        assert_eq!(word_error_rate(&["k ae t ", "d aa g", "r iy d", "z"], &references), Ok(25.0));
    }

    #[test]
    fn unequal_counts_are_refused() {
        assert!(exact_match(&["a"], &[["a", "b"]]).is_err());
        assert_eq!(exact_match::<&str, &str>(&[], &[[]]), Err(EvalError::NoLines));
        assert_eq!(exact_match::<&str, &str>(&["a"], &[] as &[[&str; 1]]), Err(EvalError::NoReferences));
    }
}
