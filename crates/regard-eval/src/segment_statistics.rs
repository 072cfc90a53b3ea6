//! One row of numbers per line, whose sums give the score of any selection of lines.

use crate::corpus::Corpus;
use crate::metric::Metric;

/// What a metric counted in each line of a corpus.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentStatistics {
    width: usize,
    /// Row after row.
    values: Vec<f64>,
}

impl SegmentStatistics {
    /// Counts every line.
    #[must_use]
    pub fn new(metric: &dyn Metric, corpus: &Corpus<'_>) -> Self {
        let mut values = Vec::with_capacity(metric.width() * corpus.lines().len());
        for (hypothesis, references) in corpus.lines() {
            values.extend(metric.statistics(hypothesis, references));
        }
        Self::from_values(metric.width(), values)
    }

    /// Rows of `width` numbers, one after the other; a rest that fills no row is dropped.
    #[must_use]
    pub fn from_values(width: usize, mut values: Vec<f64>) -> Self {
        let width = width.max(1);
        values.truncate(values.len() / width * width);
        Self { width, values }
    }

    /// Numbers in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.values.len() / self.width
    }

    /// All rows as one slice, row after row.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The row of every line.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    /// The sums over all lines, which a metric turns into the score of the corpus.
    #[must_use]
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        sums
    }

    /// The rows of the lines that are `chosen`, which gets the index of a line.
    #[must_use]
    pub fn select(&self, chosen: impl Fn(usize) -> bool) -> Self {
        let rows = self.rows().enumerate().filter(|&(line, _)| chosen(line));
        Self { width: self.width, values: rows.flat_map(|(_, row)| row).copied().collect() }
    }
}
