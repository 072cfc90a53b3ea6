//! Log-probabilities that are made of logits when they are read: a search reads few of them.

use std::sync::Arc;

use crate::element::Element;
use crate::error::{Result, TensorError};
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
    shape: Shape,
    /// `[rows, columns]`; where rows have lists, `[rows, the longest list]`.
    values: Tensor<T>,
    /// What is subtracted from each value of a row, one after the other.
    terms: Vec<(T, T)>,
    /// The largest value of each block of [`PEAK_BLOCK`], `[rows, blocks]`.
    peaks: Tensor<T>,
    /// The only columns of each row that are possible, where not all are.
    lists: Option<Vec<ColumnList>>,
}

/// The only columns that are possible in a row, and where their logits stand.
#[derive(Clone, Debug)]
pub struct ColumnList {
    /// The columns, ascending.
    pub columns: Arc<[u32]>,
    /// For each of them, the place of its logit in the row.
    pub places: Arc<[usize]>,
}

/// The distribution of a row.
#[derive(Clone, Copy, Debug)]
pub struct LogProbRow<'a, T: Element = f32> {
    columns: usize,
    values: &'a [T],
    terms: (T, T),
    peaks: &'a [T],
    list: Option<&'a [u32]>,
}

impl<T: Element> LogProbs<T> {
    /// Of logits `[rows, columns]`.
    #[must_use]
    pub fn of_logits(threads: &Threads, logits: &Tensor<T>) -> Self {
        Self::new(threads, logits.shape(), logits.clone(), None, true)
    }

    /// Of numbers `[rows, columns]` that are log-probabilities already.
    #[must_use]
    pub fn of_log_probs(log_probs: &Tensor<T>) -> Self {
        Self::new(&Threads::single(), log_probs.shape(), log_probs.clone(), None, false)
    }

    /// Of logits `[rows, any]`, of which each row has a list of so many `columns`: the probabilities of a row sum to 1 over
    /// its list, in the list's order; all other columns are impossible. A list of all columns gives the bits of
    /// [`of_logits`](Self::of_logits).
    ///
    /// # Errors
    /// Where there is not one list a row, or a list names a place that is not there.
    ///
    /// ```
    /// use regard_tensor::{ColumnList, LogProbs, Tensor, Threads};
    /// let logits = Tensor::new([1, 3], vec![0.0_f32, 9.0, 3.0_f32.ln()])?;
    /// let list = ColumnList { columns: [4, 6].into(), places: [0, 2].into() };
    /// let log_probs = LogProbs::of_lists(&Threads::single(), &logits, 7, vec![list])?;
    /// assert!((log_probs.row(0).get(6) - 0.75_f32.ln()).abs() < 1e-6);
    /// assert_eq!(log_probs.row(0).get(5), f32::NEG_INFINITY);
    /// # Ok::<(), regard_tensor::TensorError>(())
    /// ```
    pub fn of_lists(
        threads: &Threads,
        logits: &Tensor<T>,
        columns: usize,
        lists: Vec<ColumnList>,
    ) -> Result<Self> {
        let (rows, limit) = (logits.shape().rows(), logits.shape().last());
        let op = "of_lists";
        if lists.len() != rows {
            return Err(TensorError::Length { op, shape: logits.shape(), found: lists.len() });
        }
        for list in &lists {
            if list.columns.len() != list.places.len() {
                return Err(TensorError::Length { op, shape: logits.shape(), found: list.places.len() });
            }
            if let Some(&index) = list.places.iter().find(|&&place| place >= limit) {
                return Err(TensorError::Index { op, index, limit });
            }
        }
        let longest = lists.iter().map(|list| list.columns.len()).max().unwrap_or(0);
        let values = Tensor::build([rows, longest], |out| {
            for (row, (out, list)) in out.chunks_exact_mut(longest.max(1)).zip(&lists).enumerate() {
                let (listed, rest) = out.split_at_mut(list.places.len());
                for (value, &place) in listed.iter_mut().zip(list.places.iter()) {
                    *value = logits.row(row)[place];
                }
                rest.fill(T::NEG_INFINITY);
            }
        });
        Ok(Self::new(threads, [rows, columns].into(), values, Some(lists), true))
    }

    fn new(
        threads: &Threads,
        shape: Shape,
        values: Tensor<T>,
        lists: Option<Vec<ColumnList>>,
        normalise: bool,
    ) -> Self {
        let (rows, width) = (values.shape().rows(), values.shape().last());
        let blocks = width.div_ceil(PEAK_BLOCK);
        let mut terms = vec![(T::ZERO, T::ZERO); rows];
        let mut peaks = Tensor::build([rows, blocks], |_| ());
        let work = peaks.values_mut().chunks_exact_mut(blocks.max(1)).zip(&mut terms);
        let mut work: Vec<_> = work.enumerate().collect();
        let parts = if rows * width < SERIAL { 1 } else { threads.count() };
        let each = rows.div_ceil(parts).max(1);
        threads.chunks_mut(&mut work, each, |_, rows| {
            for (row, (peaks, terms)) in rows {
                let values = listed(&values, lists.as_deref(), *row).0;
                let peaks = &mut peaks[..values.len().div_ceil(PEAK_BLOCK)];
                if normalise {
                    **terms = T::log_softmax_terms(values, peaks);
                } else {
                    let blocks = peaks.iter_mut().zip(values.chunks(PEAK_BLOCK));
                    blocks.for_each(|(peak, block)| *peak = T::largest(block));
                }
            }
        });
        Self { shape, values, terms, peaks, lists }
    }

    /// `[rows, columns]`.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The distribution of a row.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> LogProbRow<'_, T> {
        let (values, list) = listed(&self.values, self.lists.as_deref(), row);
        let (columns, terms) = (self.shape.last(), self.terms[row]);
        LogProbRow { columns, values, terms, peaks: self.peaks.row(row), list }
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

/// The values of a row, and the columns that they belong to where there is a list.
fn listed<'a, T: Element>(
    values: &'a Tensor<T>,
    lists: Option<&'a [ColumnList]>,
    row: usize,
) -> (&'a [T], Option<&'a [u32]>) {
    let columns = lists.map(|lists| &*lists[row].columns);
    let values = values.row(row);
    (&values[..columns.map_or(values.len(), <[u32]>::len)], columns)
}

impl<'a, T: Element> LogProbRow<'a, T> {
    /// The log-probability of a column; −∞ where it is impossible or there is none.
    #[must_use]
    pub fn get(&self, column: usize) -> T {
        let place = match self.list {
            None => Some(column),
            Some(list) => list.binary_search_by(|listed| (*listed as usize).cmp(&column)).ok(),
        };
        place.and_then(|place| self.values.get(place)).map_or(T::NEG_INFINITY, |&value| self.normal(value))
    }

    /// Whether the probabilities are no numbers: one bad logit makes all of a row bad, so the first tells.
    #[must_use]
    pub fn is_nan(&self) -> bool {
        self.values.first().is_some_and(|&value| self.normal(value).to_f64().is_nan())
    }

    /// The log-probabilities of all columns.
    pub fn values(&self) -> impl Iterator<Item = T> + Clone + use<'a, T> {
        let (row, mut next) = (*self, 0);
        (0..row.columns).map(move |column| {
            let place = match row.list {
                None => Some(column),
                Some(list) => list.get(next).is_some_and(|&listed| listed as usize == column).then_some(next),
            };
            next += usize::from(place.is_some());
            place.map_or(T::NEG_INFINITY, |place| row.normal(row.values[place]))
        })
    }

    /// The possible columns with their log-probabilities, ascending, some neighbours at a time: the largest of these
    /// numbers, and all.
    pub fn blocks(
        &self,
    ) -> impl Iterator<Item = (T, impl Iterator<Item = (u32, T)> + use<'a, T>)> + use<'a, T> {
        let row = *self;
        let blocks = row.values.chunks(PEAK_BLOCK).zip(row.peaks).enumerate();
        blocks.map(move |(block, (values, peak))| {
            let entries = (block * PEAK_BLOCK..).zip(values).map(move |(place, &value)| {
                (row.list.map_or(place as u32, |list| list[place]), row.normal(value))
            });
            (row.normal(*peak), entries)
        })
    }

    /// As `log_softmax` rounds it.
    fn normal(&self, value: T) -> T {
        (value - self.terms.0) - self.terms.1
    }
}
