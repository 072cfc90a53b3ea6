//! Exact match: for tasks with one right answer, such as copying, reversing and pronunciation.

use crate::error::{EvalError, check_pairing};
use crate::metric::Metric;

/// Exact match as a [`Metric`]: percentage of lines that equal one of their references, white space at both ends ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExactMatch {
    /// Whether both sides are lower-cased first.
    pub lowercase: bool,
}

impl Metric for ExactMatch {
    fn name(&self) -> String {
        "exact match".to_owned()
    }

    fn settings(&self) -> String {
        format!("case:{}", if self.lowercase { "lc" } else { "mixed" })
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn width(&self) -> usize {
        2
    }

    /// Right lines, and lines.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        let cased = |line: &str| if self.lowercase { line.to_lowercase() } else { line.to_owned() };
        let hypothesis = cased(hypothesis.trim());
        let right = references.iter().any(|reference| cased(reference.trim()) == hypothesis);
        vec![f64::from(u8::from(right)), 1.0]
    }

    fn score_of(&self, sums: &[f64]) -> f64 {
        match *sums {
            [right, lines, ..] if lines > 0.0 => 100.0 * right / lines,
            _ => 0.0,
        }
    }
}

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
#[allow(clippy::float_cmp, reason = "equal to the bit")]
mod tests {
    use super::*;

    #[test]
    fn any_reference_will_do() {
        let references = [["k ae t", "d ao g", "r eh d", "x"], ["k a t", "d aa g", "r iy d", "y"]];
        assert_eq!(word_error_rate(&["k ae t ", "d aa g", "r iy d", "z"], &references), Ok(25.0));
    }

    #[test]
    fn as_a_metric() {
        let exact = ExactMatch { lowercase: true };
        assert_eq!(exact.statistics("A b ", &["x", "a B"]), [1.0, 1.0]);
        assert_eq!(exact.statistics("a b", &["a  b"]), [0.0, 1.0]);
        assert_eq!(exact.score_of(&[3.0, 4.0]), 75.0);
    }

    #[test]
    fn unequal_counts_are_refused() {
        assert!(exact_match(&["a"], &[["a", "b"]]).is_err());
        assert_eq!(exact_match::<&str, &str>(&[], &[[]]), Err(EvalError::NoLines));
        assert_eq!(exact_match::<&str, &str>(&["a"], &[] as &[[&str; 1]]), Err(EvalError::NoReferences));
    }
}
