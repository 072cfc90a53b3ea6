//! The right-hand side of a product in fewer bits than f32.

use super::{Kernels, PANEL, Packed, rows_of};
use crate::pool;
use crate::threads::{SMALL_WORK, Threads};

/// What a [`Narrow`] matrix is made of.
#[derive(Debug)]
pub(crate) enum NarrowForm {
    /// The upper 16 bits of f32, rounded; both sides of the product are, and the sums are f32.
    Bf16,
    /// Integers of 8 bits: column j is `scales[j]` times its bytes, whose sum times 128 is `offsets[j]`; for all columns of
    /// the panels.
    Int8 { scales: Vec<f32>, offsets: Vec<i32> },
}

/// A matrix B\[k,n\] in panels of words of 32 bits, see [`Packed`]: each holds the numbers of 2 (bf16) or 4 (int8)
/// neighbouring depths.
///
/// An 8-bit column has one scale, chosen so that its largest number is ±127. The rows of A get a scale each when they are
/// multiplied, in the same way, so that a row's result does not depend on other rows.
#[derive(Debug)]
pub struct Narrow {
    words: Packed<u32>,
    form: NarrowForm,
    k: usize,
}

impl Narrow {
    /// `w` \[n,k\], row-major, in bf16, for products A·Wᵀ.
    pub(crate) fn bf16_from_transposed<T: Kernels>(threads: &Threads, w: &[T], n: usize, k: usize) -> Self {
        let depth = k.div_ceil(2);
        let words = bf16_rows(threads, w, k, n, depth);
        let packed = Packed::from_transposed(threads, &words, n, depth);
        pool::give(words);
        Self { words: packed, form: NarrowForm::Bf16, k }
    }

    /// `b` \[k,n\], row-major, in bf16, for products A·B.
    pub(crate) fn bf16_from_rows<T: Kernels>(threads: &Threads, b: &[T], k: usize, n: usize) -> Self {
        let words = bf16_pairs(threads, &std::iter::once(b), n);
        let packed = Packed::from_rows(threads, &words, k.div_ceil(2), n);
        pool::give(words);
        Self { words: packed, form: NarrowForm::Bf16, k }
    }

    /// `w` \[n,k\], row-major, in 8 bits, for products A·Wᵀ.
    pub(crate) fn int8_from_transposed<T: Kernels>(threads: &Threads, w: &[T], n: usize, k: usize) -> Self {
        let depth = k.div_ceil(4);
        let (words, of_rows) = int8_rows(threads, w, k, n, (depth, 0));
        let bytes = |row: usize| words[row * depth..][..depth].iter().flat_map(|word| word.to_le_bytes());
        let sum = |row| bytes(row).map(|byte| i32::from(byte.cast_signed())).sum::<i32>();
        let mut offsets: Vec<_> = (0..n).map(|row| sum(row).wrapping_mul(128)).collect();
        let packed = Packed::from_transposed(threads, &words, n, depth);
        pool::give(words);
        let mut scales = vec![0.0; n.next_multiple_of(PANEL)];
        scales[..n].copy_from_slice(&of_rows);
        pool::give(of_rows);
        offsets.resize(scales.len(), 0);
        Self { words: packed, form: NarrowForm::Int8 { scales, offsets }, k }
    }

    /// Some columns of the matrix, in the given order: each with its scale, so that its products keep their bits.
    ///
    /// # Panics
    /// Where there is no such column.
    pub(crate) fn select(&self, threads: &Threads, columns: &[usize]) -> Self {
        let form = match &self.form {
            NarrowForm::Bf16 => NarrowForm::Bf16,
            NarrowForm::Int8 { scales, offsets } => {
                NarrowForm::Int8 { scales: selected(scales, columns), offsets: selected(offsets, columns) }
            }
        };
        Self { words: self.words.select(threads, columns), form, k: self.k }
    }

    /// The depth of the product: rows of B.
    #[must_use]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Columns of B and of the result.
    #[must_use]
    pub fn n(&self) -> usize {
        self.words.n()
    }

    pub(crate) fn words(&self) -> &Packed<u32> {
        &self.words
    }

    pub(crate) fn form(&self) -> &NarrowForm {
        &self.form
    }

    /// What the numbers of a column are multiplied by.
    pub(crate) fn scale(&self, column: usize) -> f32 {
        match &self.form {
            NarrowForm::Bf16 => 1.0,
            NarrowForm::Int8 { scales, .. } => scales[column],
        }
    }

    /// The number at a depth and column, as the product sees it, without its column's scale.
    pub(crate) fn number(&self, depth: usize, column: usize) -> f32 {
        let each = if matches!(self.form, NarrowForm::Bf16) { 2 } else { 4 };
        let panel = &self.words.panels()[column / PANEL * PANEL * self.words.k()..];
        let word = panel[depth / each * PANEL + column % PANEL];
        match self.form {
            NarrowForm::Bf16 => f32::from_bits(word >> (16 * (depth % 2)) << 16),
            NarrowForm::Int8 { .. } => f32::from(word.to_le_bytes()[depth % 4].cast_signed()),
        }
    }
}

/// The entries of some columns, for all columns of the panels.
fn selected<T: Copy + Default>(entries: &[T], columns: &[usize]) -> Vec<T> {
    let mut selected: Vec<_> = columns.iter().map(|&column| entries[column]).collect();
    selected.resize(columns.len().next_multiple_of(PANEL), T::default());
    selected
}

/// Rows `[rows, k]` in bf16, two numbers a word. Each becomes a line of `width` words, of which the last may be free.
pub(crate) fn bf16_rows<T: Kernels>(
    threads: &Threads,
    x: &[T],
    k: usize,
    rows: usize,
    width: usize,
) -> Vec<u32> {
    let mut words = pool::take(rows * width);
    for_lines(threads, &mut words, width, |row, line| {
        T::bf16_words(&x[row * k..][..k], &mut line[..k.div_ceil(2)]);
    });
    words
}

/// The rows of all blocks in bf16, each word two numbers of one column: of rows 0 and 1, 2 and 3, …
pub(crate) fn bf16_pairs<'a, T: Kernels>(
    threads: &Threads,
    blocks: &(impl Iterator<Item = &'a [T]> + Clone + Sync),
    n: usize,
) -> Vec<u32> {
    let width = n.max(1);
    let rows: usize = blocks.clone().map(|block| block.len() / width).sum();
    let mut words = pool::take(rows.div_ceil(2) * n);
    let zeros = pool::take_zeroed(n);
    let each = SMALL_WORK.div_ceil(width);
    threads.chunks_mut(&mut words, each * width, |part, lines| {
        let first = 2 * part * each;
        let mut rows = rows_of(blocks.clone(), width, first..first + 2 * each);
        for line in lines.chunks_exact_mut(width) {
            let Some(upper) = rows.next() else { return };
            T::bf16_pair_words(upper, rows.next().unwrap_or(&zeros), line);
        }
    });
    pool::give(zeros);
    words
}

/// Rows `[rows, k]` in 8 bits, four numbers a word, with the bits of `flip` turned over in each; and the rows' scales. Each
/// becomes a line of `width` words, of which the last may be free.
pub(crate) fn int8_rows<T: Kernels>(
    threads: &Threads,
    x: &[T],
    k: usize,
    rows: usize,
    (width, flip): (usize, u32),
) -> (Vec<u32>, Vec<f32>) {
    let (mut words, mut scales) = (pool::take(rows * width), pool::take(rows));
    let each = SMALL_WORK.div_ceil(k.max(1));
    threads.chunks_mut(&mut scales, each, |part, scales| {
        for (row, scale) in scales.iter_mut().enumerate() {
            *scale = T::int8_scale(&x[(part * each + row) * k..][..k]);
        }
    });
    for_lines(threads, &mut words, width, |row, line| {
        T::int8_words(&x[row * k..][..k], scales[row], flip, &mut line[..k.div_ceil(4)]);
    });
    (words, scales)
}

/// Calls `fill(row, line)` for the lines of `width` words, in tasks that are worth one.
fn for_lines(threads: &Threads, words: &mut [u32], width: usize, fill: impl Fn(usize, &mut [u32]) + Sync) {
    let each = SMALL_WORK.div_ceil(width.max(1));
    threads.chunks_mut(words, each * width, |part, lines| {
        for (row, line) in lines.chunks_exact_mut(width).enumerate() {
            fill(part * each + row, line);
        }
    });
}
