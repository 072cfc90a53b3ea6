//! Output lines with their references.

use crate::error::{EvalError, check_pairing};

/// Lines of output, each with at least one reference.
///
/// ```
/// use regard_eval::{BleuOptions, Corpus, Metric, SegmentStatistics};
///
/// let corpus = Corpus::new(&["a small dog", "the end"], &[["a small dog", "an end"]])?;
/// let statistics = SegmentStatistics::new(&BleuOptions::default(), &corpus);
/// assert_eq!(statistics.rows().count(), 2);
/// # Ok::<(), regard_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus<'a> {
    lines: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Corpus<'a> {
    /// `references[k][i]` is the k-th reference of `hypotheses[i]`.
    ///
    /// # Errors
    /// Without lines, without references, or when a reference has another number of lines.
    pub fn new<H: AsRef<str>, T: AsRef<str> + 'a>(
        hypotheses: &'a [H],
        references: &'a [impl AsRef<[T]>],
    ) -> Result<Self, EvalError> {
        check_pairing(hypotheses.len(), references)?;
        Ok(Self::paired(hypotheses, references, |line| Some(line.as_ref())))
    }

    /// The same where a line may lack some of the references, but not all.
    ///
    /// # Errors
    /// As [`new`](Self::new), and for a line without any reference.
    pub fn with_gaps<H: AsRef<str>, T: AsRef<str> + 'a>(
        hypotheses: &'a [H],
        references: &'a [impl AsRef<[Option<T>]>],
    ) -> Result<Self, EvalError> {
        check_pairing(hypotheses.len(), references)?;
        let corpus = Self::paired(hypotheses, references, |line| line.as_ref().map(AsRef::as_ref));
        match corpus.lines.iter().position(|(_, references)| references.is_empty()) {
            Some(line) => Err(EvalError::NoReferenceForLine { line: line + 1 }),
            None => Ok(corpus),
        }
    }

    fn paired<H: AsRef<str>, T: 'a>(
        hypotheses: &'a [H],
        references: &'a [impl AsRef<[T]>],
        text: impl Fn(&'a T) -> Option<&'a str>,
    ) -> Self {
        let mut references: Vec<_> = references.iter().map(|reference| reference.as_ref().iter()).collect();
        let lines = hypotheses.iter().map(|hypothesis| {
            let of_line = references.iter_mut().filter_map(Iterator::next).filter_map(&text).collect();
            (hypothesis.as_ref(), of_line)
        });
        Self { lines: lines.collect() }
    }

    /// The lines in order: the output and its references.
    #[must_use]
    pub fn lines(&self) -> impl ExactSizeIterator<Item = (&'a str, &[&'a str])> {
        self.lines.iter().map(|(hypothesis, references)| (*hypothesis, references.as_slice()))
    }

    /// The number of references per line; none where it varies.
    #[must_use]
    pub fn reference_count(&self) -> Option<usize> {
        let mut counts = self.lines.iter().map(|(_, references)| references.len());
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps() {
        let references = [[Some("a"), None], [Some("b"), Some("c")]];
        let corpus = Corpus::with_gaps(&["x", "y"], &references).unwrap();
        let lines: Vec<_> = corpus.lines().collect();
        assert_eq!(lines, [("x", ["a", "b"].as_slice()), ("y", ["c"].as_slice())]);
        assert_eq!(corpus.reference_count(), None);
        assert_eq!(Corpus::new(&["x"], &[["a"], ["b"]]).unwrap().reference_count(), Some(2));

        let none = [[Some("a"), None]];
        let refused = Corpus::with_gaps(&["x", "y"], &none);
        assert_eq!(refused, Err(EvalError::NoReferenceForLine { line: 2 }));
    }
}
