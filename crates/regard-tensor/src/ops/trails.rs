//! What the attention operations of a decoder share: rows that each read keys and values where earlier steps left them.

use std::ops::Range;

use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Shape, Tensor, Threads, Var};

/// What each row of an attention reads, position after position: rows of some blocks `[…, width]`, which are not copied.
///
/// ```
/// use regard_tensor::ops::Trails;
/// let mut trails = Trails::default();
/// trails.push([(0, 3), (1, 0)]);
/// trails.push([(0, 3)]);
/// assert_eq!((trails.rows(), trails.len(0), trails.longest()), (2, 2, 2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trails {
    /// Block and row of each position, trail after trail.
    places: Vec<(usize, usize)>,
    /// Where each trail ends in them.
    ends: Vec<usize>,
    longest: usize,
    /// Rows that each block must have.
    least_rows: Vec<usize>,
}

impl Trails {
    /// Adds the trail of the next row: the block and the row in it of each position.
    pub fn push(&mut self, places: impl IntoIterator<Item = (usize, usize)>) {
        let start = self.places.len();
        for (block, row) in places {
            if self.least_rows.len() <= block {
                self.least_rows.resize(block + 1, 0);
            }
            self.least_rows[block] = self.least_rows[block].max(row + 1);
            self.places.push((block, row));
        }
        self.longest = self.longest.max(self.places.len() - start);
        self.ends.push(self.places.len());
    }

    /// How many rows have a trail.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Positions of a row's trail; 0 where there is no such row.
    #[must_use]
    pub fn len(&self, row: usize) -> usize {
        self.range(row).len()
    }

    /// Whether no trail has a position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Positions of the longest trail.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn places(&self, row: usize) -> &[(usize, usize)] {
        &self.places[self.range(row)]
    }

    fn range(&self, row: usize) -> Range<usize> {
        let end = self.ends.get(row).copied().unwrap_or(0);
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before).copied());
        start.unwrap_or(0).min(end)..end
    }
}

/// The sizes of a lookup along trails.
#[derive(Clone, Copy)]
pub(super) struct Lookup {
    pub(super) rows: usize,
    pub(super) heads: usize,
    /// heads · width of a head.
    pub(super) columns: usize,
    /// Positions of the longest trail.
    pub(super) positions: usize,
}

impl Lookup {
    /// Checks that `rows` `[rows, heads · width]` have a trail each, and that the blocks have the rows of all trails.
    pub(super) fn new<T: Element>(
        op: &'static str,
        rows: Shape,
        blocks: &[&Var<T>],
        heads: usize,
        trails: &Trails,
    ) -> Result<Self> {
        let columns = rows.last();
        if heads == 0 || columns == 0 || !columns.is_multiple_of(heads) {
            return Err(TensorError::Index { op, index: columns, limit: heads });
        }
        if trails.rows() != rows.rows() {
            return Err(TensorError::Index { op, index: trails.rows(), limit: rows.rows() });
        }
        if blocks.len() < trails.least_rows.len() {
            return Err(TensorError::Index { op, index: trails.least_rows.len(), limit: blocks.len() });
        }
        for (block, &least) in blocks.iter().zip(&trails.least_rows) {
            if block.shape().last() != columns {
                return Err(TensorError::ShapeMismatch { op, left: rows, right: block.shape() });
            }
            if block.shape().rows() < least {
                return Err(TensorError::Index { op, index: least - 1, limit: block.shape().rows() });
            }
        }
        Ok(Self { rows: rows.rows(), heads, columns, positions: trails.longest() })
    }

    /// `[heads, rows, positions]`.
    pub(super) fn weights_shape(&self) -> Shape {
        [self.heads, self.rows, self.positions].into()
    }

    /// `factor · q · k` for each head, position and row of `q` `[rows, columns]`: `[heads, rows, positions]`, zero past a
    /// trail's end.
    pub(super) fn scores<T: Element>(
        &self,
        threads: &Threads,
        q: &Tensor<T>,
        blocks: &[&Tensor<T>],
        trails: &Trails,
        factor: T,
    ) -> Tensor<T> {
        // Row by row, `[rows, heads, positions of the row]`, so that a thread writes one piece.
        let each = self.heads * self.positions;
        let mut by_row = Tensor::build([self.rows, each], |_| ());
        self.for_each_row(threads, by_row.values_mut(), each, |row, read, out| {
            read.gather(blocks, trails.places(row));
            let out = &mut out[..self.heads * read.rows.len()];
            T::head_scores_row(q.row(row), &read.rows, self.heads, factor, out);
        });
        Tensor::build(self.weights_shape(), |out| {
            out.fill(T::ZERO);
            for row in 0..self.rows {
                let len = trails.len(row);
                for (head, scores) in by_row.row(row).chunks_exact(len.max(1)).take(self.heads).enumerate() {
                    out[(head * self.rows + row) * self.positions..][..len].copy_from_slice(&scores[..len]);
                }
            }
        })
    }

    /// `Σ w · v` over the positions, for each head: `w` is `[heads, rows, positions]`, the result `[rows, columns]`.
    pub(super) fn contexts<T: Element>(
        &self,
        threads: &Threads,
        w: &Tensor<T>,
        blocks: &[&Tensor<T>],
        trails: &Trails,
    ) -> Tensor<T> {
        let mut contexts = Tensor::build([self.rows, self.columns], |_| ());
        self.for_each_row(threads, contexts.values_mut(), self.columns, |row, read, out| {
            read.gather(blocks, trails.places(row));
            let of_head = |head| &w.row(head * self.rows + row)[..read.rows.len()];
            read.weights.clear();
            read.weights.extend((0..self.heads).flat_map(of_head));
            T::head_contexts_row(&read.weights, &read.rows, self.heads, out);
        });
        contexts
    }

    /// Adds `factor · w · q` of every row to the rows of block `block` that it reads, row after row: the gradient of what was
    /// read. `w` is `[heads, rows, positions]`, `q` is `[rows, columns]`.
    pub(super) fn add_to_block<T: Element>(
        &self,
        (w, q): (&Tensor<T>, &Tensor<T>),
        factor: T,
        (trails, block): (&Trails, usize),
        sums: &mut [T],
    ) {
        let width = self.columns / self.heads;
        for row in 0..self.rows {
            for (position, &(_, place)) in
                trails.places(row).iter().enumerate().filter(|(_, (of, _))| *of == block)
            {
                let sums = sums[place * self.columns..][..self.columns].chunks_exact_mut(width);
                for (head, (sums, q)) in sums.zip(q.row(row).chunks_exact(width)).enumerate() {
                    T::axpy(factor * w.row(head * self.rows + row)[position], q, sums);
                }
            }
        }
    }

    /// Calls `work(row, a reader, values of the row)` for each row of `out` `[rows, width]`, on several threads where there is
    /// enough to do.
    pub(super) fn for_each_row<'a, T: Element>(
        &self,
        threads: &Threads,
        out: &mut [T],
        width: usize,
        work: impl Fn(usize, &mut Reader<'a, T>, &mut [T]) + Sync,
    ) {
        let parts =
            if self.rows * self.positions * self.columns < super::SERIAL { 1 } else { threads.count() };
        let each = self.rows.div_ceil(parts).max(1);
        let width = width.max(1);
        threads.chunks_mut(out, each * width, |part, out| {
            let mut reader = Reader {
                rows: Vec::with_capacity(self.positions),
                weights: Vec::with_capacity(self.heads * self.positions),
            };
            for (place, out) in out.chunks_exact_mut(width).enumerate() {
                work(part * each + place, &mut reader, out);
            }
        });
    }
}

/// What a thread uses for row after row.
pub(super) struct Reader<'a, T> {
    /// The keys or values that were gathered last.
    pub(super) rows: Vec<&'a [T]>,
    /// Room for the weights of a row, `[heads, positions]`.
    pub(super) weights: Vec<T>,
}

impl<'a, T: Element> Reader<'a, T> {
    /// Looks up the rows of the blocks at these places.
    pub(super) fn gather(&mut self, blocks: &[&'a Tensor<T>], places: &[(usize, usize)]) {
        self.rows.clear();
        self.rows.extend(places.iter().map(|&(block, row)| blocks[block].row(row)));
    }
}

/// The values behind variables.
pub(super) fn tensors<'a, T: Element>(blocks: &[&'a Var<T>]) -> Vec<&'a Tensor<T>> {
    blocks.iter().map(|block| block.value()).collect()
}
