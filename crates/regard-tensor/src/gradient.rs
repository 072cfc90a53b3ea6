//! What a weight's gradient is kept as: all its values, or the rows of a table that were read.

use std::ops::Range;

use crate::element::Element;
use crate::ops::for_parts_of;
use crate::{List, Shape, Tensor, Threads};

/// About how many values are summed up in one piece.
const PIECE: usize = 32 * 1024;
/// How many zeros at most stand in at a time for rows that are not kept.
const ZEROS: usize = 2048;

/// The gradient of a weight.
#[derive(Clone, Debug)]
pub enum Gradient<T: Element = f32> {
    /// All its values.
    Dense(Tensor<T>),
    /// Of a table of which rows were read and nothing else: these rows, all others are zero.
    Rows(RowGradient<T>),
}

/// The gradient of a table that is zero but for some rows.
#[derive(Clone, Debug)]
pub struct RowGradient<T: Element = f32> {
    shape: Shape,
    places: List<u32>,
    rows: Tensor<T>,
}

impl<T: Element> Gradient<T> {
    /// The shape of the weight.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self {
            Self::Dense(values) => values.shape(),
            Self::Rows(rows) => rows.shape,
        }
    }

    /// All values.
    #[must_use]
    pub fn to_dense(&self) -> Tensor<T> {
        self.clone().into_dense()
    }

    /// All values.
    #[must_use]
    pub fn into_dense(self) -> Tensor<T> {
        match self {
            Self::Dense(values) => values,
            Self::Rows(rows) => rows.to_dense(),
        }
    }

    /// The sum with another gradient of the same weight: rows where both are rows.
    #[must_use]
    pub fn plus(self, threads: &Threads, other: Self) -> Self {
        match (self, other) {
            (Self::Rows(sum), Self::Rows(other)) => Self::Rows(sum.plus(other)),
            (sum, other) => {
                let (mut sum, other) = (sum.into_dense(), other.into_dense());
                for_parts_of(threads, sum.values_mut(), |first, sum| {
                    T::add_assign(sum, &other.values()[first..][..sum.len()]);
                });
                Self::Dense(sum)
            }
        }
    }

    /// The values that are kept, for writing.
    pub(crate) fn kept_mut(&mut self) -> &mut [T] {
        match self {
            Self::Dense(values) => values.values_mut(),
            Self::Rows(rows) => rows.rows.values_mut(),
        }
    }

    /// How many pieces the weight is cut into; this depends on its shape alone.
    pub(crate) fn pieces(&self) -> usize {
        self.shape().rows().div_ceil(self.rows_of_piece())
    }

    /// What is kept of a piece of the weight, whether or not that is all of it.
    pub(crate) fn piece(&self, index: usize) -> &[T] {
        let count = self.rows_of_piece();
        let width = self.shape().last();
        let rows = index * count..((index + 1) * count).min(self.shape().rows());
        match self {
            Self::Dense(values) => &values.values()[rows.start * width..rows.end * width],
            Self::Rows(gradient) => {
                let kept = |end: usize| gradient.places.partition_point(|&place| (place as usize) < end);
                &gradient.rows.values()[kept(rows.start) * width..kept(rows.end) * width]
            }
        }
    }

    fn rows_of_piece(&self) -> usize {
        (PIECE / self.shape().last().max(1)).max(1)
    }

    /// Calls `visit(places, values)` for all values at a `range` of places in the weight, from first to last, many at a time.
    /// Places are counted from the start of the range.
    pub(crate) fn read(&self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, &[T])) {
        match self {
            Self::Dense(values) => visit(0..range.len(), &values.values()[range]),
            Self::Rows(rows) => rows.read(range, visit),
        }
    }
}

impl<T: Element> RowGradient<T> {
    /// The gradient of a table from all that was read of it: ids `[n]`, each once or more, and the gradients of their rows
    /// `[n, width]`. What belongs to one row is added to zero in this order.
    pub(crate) fn sum(shape: Shape, reads: &[(List<u32>, Tensor<T>)]) -> Self {
        let mut all: List<u32> = reads.iter().flat_map(|(ids, _)| ids).copied().collect();
        all.sort_unstable();
        let places: List<u32> = all.chunk_by(|a, b| a == b).map(|same| same[0]).collect();
        let rows = Tensor::build([places.len(), shape.last()], |sums| {
            sums.fill(T::ZERO);
            for (ids, rows) in reads {
                add_rows(sums, ids.iter().map(|id| places.partition_point(|place| place < id)), rows);
            }
        });
        Self { shape, places, rows }
    }

    /// The rows that are kept: ascending, each once.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Their values, `[places, width]`.
    #[must_use]
    pub fn rows(&self) -> &Tensor<T> {
        &self.rows
    }

    /// All values of the table.
    pub(crate) fn to_dense(&self) -> Tensor<T> {
        let mut table = Tensor::zeros(self.shape);
        add_rows(table.values_mut(), self.places.iter().map(|&place| place as usize), &self.rows);
        table
    }

    fn plus(self, other: Self) -> Self {
        Self::sum(self.shape, &[(self.places, self.rows), (other.places, other.rows)])
    }

    fn read(&self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, &[T])) {
        let (width, zeros) = (self.shape.last(), [T::ZERO; ZEROS]);
        let before = |&place: &u32| (place as usize + 1) * width <= range.start;
        let rows = self.places.iter().zip(self.rows.values().chunks_exact(width.max(1)));
        let mut at = 0;
        for (&place, row) in rows.skip(self.places.partition_point(before)) {
            let start = place as usize * width;
            if start >= range.end {
                break;
            }
            let (from, to) = (start.max(range.start), range.end.min(start + width));
            let places = from - range.start..to - range.start;
            repeat(&zeros, at..places.start, &mut visit);
            at = places.end;
            visit(places, &row[from - start..to - start]);
        }
        repeat(&zeros, at..range.len(), &mut visit);
    }
}

/// Calls `visit` for a range whose values are all those of `zeros`.
fn repeat<T>(zeros: &[T], range: Range<usize>, visit: &mut impl FnMut(Range<usize>, &[T])) {
    for from in range.clone().step_by(zeros.len()) {
        let to = range.end.min(from + zeros.len());
        visit(from..to, &zeros[..to - from]);
    }
}

/// Adds each of the `rows` to the row of `sums` at its place.
pub(crate) fn add_rows<T: Element>(sums: &mut [T], places: impl Iterator<Item = usize>, rows: &Tensor<T>) {
    let width = rows.shape().last();
    for (place, row) in places.zip(rows.values().chunks_exact(width.max(1))) {
        T::add_assign(&mut sums[place * width..][..width], row);
    }
}
