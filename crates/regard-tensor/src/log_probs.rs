//! Log-probabilities that are made of logits when they are read: a search reads few of them.

use crate::element::Element;
use crate::kernels::PEAK_BLOCK;
use crate::ops::SERIAL;
use crate::{Shape, Tensor, Threads};

/// Natural-log probabilities, one distribution a row: the very numbers of [`ops::log_softmax`](crate::ops::log_softmax),
/// computed one by one from the logits and two sums a row.
///
/// ```
/// use regard_tensor::{LogProbs, Tensor, Threads};
/// let logits = Tensor::new([1, 2], vec![0.0_f32, 3.0_f32.ln()])?;
/// let log_probs = LogProbs::of_logits(&Threads::single(), &logits);
/// assert!((log_probs.row(0).get(0) - 0.25_f32.ln()).abs() < 1e-6);
/// # Ok::<(), regard_tensor::TensorError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogProbs<T: Element = f32> {
    values: Tensor<T>,
    /// What is subtracted from each value of a row, one after the other.
    terms: Vec<(T, T)>,
    /// The largest value of each block of [`PEAK_BLOCK`], `[rows, blocks]`.
    peaks: Tensor<T>,
}

/// The distribution of a row.
#[derive(Clone, Copy, Debug)]
pub struct LogProbRow<'a, T: Element = f32> {
    values: &'a [T],
    terms: (T, T),
    peaks: &'a [T],
}

impl<T: Element> LogProbs<T> {
    /// Of logits `[rows, columns]`.
    #[must_use]
    pub fn of_logits(threads: &Threads, logits: &Tensor<T>) -> Self {
        Self::new(threads, logits, true)
    }

    /// Of numbers `[rows, columns]` that are log-probabilities already.
    #[must_use]
    pub fn of_log_probs(log_probs: &Tensor<T>) -> Self {
        Self::new(&Threads::single(), log_probs, false)
    }

    fn new(threads: &Threads, values: &Tensor<T>, normalise: bool) -> Self {
        let (rows, columns) = (values.shape().rows(), values.shape().last());
        let blocks = columns.div_ceil(PEAK_BLOCK);
        let mut terms = vec![(T::ZERO, T::ZERO); rows];
        let mut peaks = Tensor::build([rows, blocks], |_| ());
        let work = peaks.values_mut().chunks_exact_mut(blocks.max(1)).zip(&mut terms);
        let mut work: Vec<_> = work.enumerate().collect();
        let parts = if rows * columns < SERIAL { 1 } else { threads.count() };
        let each = rows.div_ceil(parts).max(1);
        threads.chunks_mut(&mut work, each, |_, rows| {
            for (row, (peaks, terms)) in rows {
                let values = values.row(*row);
                if normalise {
                    **terms = T::log_softmax_terms(values, peaks);
                } else {
                    let blocks = peaks.iter_mut().zip(values.chunks(PEAK_BLOCK));
                    blocks.for_each(|(peak, block)| *peak = T::largest(block));
                }
            }
        });
        Self { values: values.clone(), terms, peaks }
    }

    /// `[rows, columns]`.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.values.shape()
    }

    /// The distribution of a row.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> LogProbRow<'_, T> {
        LogProbRow { values: self.values.row(row), terms: self.terms[row], peaks: self.peaks.row(row) }
    }

    /// All of them, `[rows, columns]`.
    #[must_use]
    pub fn to_tensor(&self) -> Tensor<T> {
        let columns = self.shape().last().max(1);
        Tensor::build(self.shape(), |out| {
            for (row, out) in out.chunks_exact_mut(columns).enumerate() {
                for (out, value) in out.iter_mut().zip(self.row(row).values()) {
                    *out = value;
                }
            }
        })
    }
}

impl<'a, T: Element> LogProbRow<'a, T> {
    /// The log-probability of a column; −∞ where there is none.
    #[must_use]
    pub fn get(&self, column: usize) -> T {
        self.values.get(column).map_or(T::NEG_INFINITY, |&value| self.normal(value))
    }

    /// The log-probabilities of all columns.
    pub fn values(&self) -> impl Iterator<Item = T> + Clone + use<'a, T> {
        let row = *self;
        self.values.iter().map(move |&value| row.normal(value))
    }

    /// The log-probabilities of all columns, some neighbours at a time: the first column, the largest of them, and all.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, T, Self)> + use<'a, T> {
        let row = *self;
        let blocks = row.values.chunks(PEAK_BLOCK).zip(row.peaks).enumerate();
        blocks.map(move |(block, (values, peak))| {
            let part = LogProbRow { values, peaks: std::slice::from_ref(peak), ..row };
            (block * PEAK_BLOCK, row.normal(*peak), part)
        })
    }

    /// As `log_softmax` rounds it.
    fn normal(&self, value: T) -> T {
        (value - self.terms.0) - self.terms.1
    }
}
