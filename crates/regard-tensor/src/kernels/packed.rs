//! The right-hand side of a product, packed once and used many times.

use crate::pool::{self, Pooled};
use crate::threads::{SMALL_WORK, Threads};

/// Columns in a panel.
pub(crate) const PANEL: usize = 16;

/// Panels that are filled together at least, so that more than a line of each row is read at a time.
const GROUP: usize = 4;

/// A matrix B\[k,n\] in panels of 16 columns: panel p holds, for each depth in turn, the 16 values of columns
/// 16p … 16p+15, zeros beyond n. A layout for memory only, never for files. The buffer comes from the pool.
#[derive(Debug)]
pub struct Packed<T: Pooled> {
    buffer: Vec<T>,
    /// Where the panels start, so that they lie on cache lines.
    start: usize,
    k: usize,
    n: usize,
}

impl<T: Pooled> Packed<T> {
    /// Packs `b` \[k,n\], row-major, for products A·B.
    ///
    /// # Panics
    /// If `b` does not have k·n elements.
    #[must_use]
    pub fn from_rows(threads: &Threads, b: &[T], k: usize, n: usize) -> Self {
        assert_eq!(b.len(), k * n, "a [{k},{n}] matrix");
        Self::from_row_blocks(threads, &std::iter::once(b), n)
    }

    /// Packs a matrix whose rows lie in several blocks, each row-major.
    pub(crate) fn from_row_blocks<'a>(
        threads: &Threads,
        blocks: &(impl Iterator<Item = &'a [T]> + Clone + Sync),
        n: usize,
    ) -> Self {
        let k = blocks.clone().map(|block| block.len().checked_div(n).unwrap_or(0)).sum();
        Self::build(threads, k, n, |panels, first| {
            let rows = blocks.clone().flat_map(|block| block.chunks_exact(n));
            for (at, row) in rows.enumerate() {
                let (lines, rest) = row[first..].as_chunks::<PANEL>();
                let mut panels =
                    panels.chunks_exact_mut(PANEL * k).map(|panel| &mut panel[at * PANEL..][..PANEL]);
                // Of known length, as a copy of an unknown one is a call.
                lines.iter().zip(panels.by_ref()).for_each(|(line, to)| to.copy_from_slice(line));
                if let (false, Some(to)) = (rest.is_empty(), panels.next()) {
                    to[..rest.len()].copy_from_slice(rest);
                    to[rest.len()..].fill(T::default());
                }
            }
        })
    }

    /// Packs `w` \[n,k\], row-major, for products A·Wᵀ: a PyTorch weight \[out,in\].
    ///
    /// # Panics
    /// If `w` does not have n·k elements.
    #[must_use]
    pub fn from_transposed(threads: &Threads, w: &[T], n: usize, k: usize) -> Self {
        assert_eq!(w.len(), n * k, "a [{n},{k}] matrix");
        Self::build(threads, k, n, |panels, first| {
            for (panel, rows) in panels.chunks_exact_mut(PANEL * k).zip(w[first * k..].chunks(PANEL * k)) {
                transpose(rows, panel, k);
            }
        })
    }

    /// Some columns of the matrix, in the given order.
    ///
    /// # Panics
    /// Where there is no such column.
    pub(crate) fn select(&self, threads: &Threads, columns: &[usize]) -> Self {
        let (k, n) = (self.k, columns.len());
        Self::build(threads, k, n, |panels, first| {
            for (panel, columns) in panels.chunks_exact_mut(PANEL * k).zip(columns[first..].chunks(PANEL)) {
                if columns.len() < PANEL {
                    panel.fill(T::default());
                }
                for (to, &column) in columns.iter().enumerate() {
                    let from = &self.panels()[column / PANEL * PANEL * k..][..PANEL * k];
                    for (line, from) in panel.chunks_exact_mut(PANEL).zip(from.chunks_exact(PANEL)) {
                        line[to] = from[column % PANEL];
                    }
                }
            }
        })
    }

    /// Fills the panels by `fill(some panels, their first column)`.
    fn build(threads: &Threads, k: usize, n: usize, fill: impl Fn(&mut [T], usize) + Sync) -> Self {
        let len = n.div_ceil(PANEL) * PANEL * k;
        let mut buffer: Vec<T> = pool::take(len + PANEL);
        // align_offset may decline (it never does in practice); then the panels lie where they lie.
        let offset = buffer.as_ptr().align_offset(64);
        let start = if offset < PANEL { offset } else { 0 };
        let each = SMALL_WORK.div_ceil((PANEL * k).max(1)).max(GROUP);
        threads.chunks_mut(&mut buffer[start..start + len], each * PANEL * k, |part, panels| {
            fill(panels, part * each * PANEL);
        });
        Self { buffer, start, k, n }
    }

    /// The depth of the product: rows of B.
    #[must_use]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Columns of B and of the result.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// All panels, each `16·k` elements.
    #[must_use]
    pub fn panels(&self) -> &[T] {
        &self.buffer[self.start..self.start + self.n.div_ceil(PANEL) * PANEL * self.k]
    }
}

/// Writes up to 16 rows of `k` elements as the columns of a panel, in blocks that stay in the first-level cache.
fn transpose<T: Pooled>(rows: &[T], panel: &mut [T], k: usize) {
    if rows.len() < panel.len() {
        panel.fill(T::default());
    }
    for (block, lines) in panel.chunks_mut(PANEL * PANEL).enumerate() {
        for (column, row) in rows.chunks_exact(k).enumerate() {
            for (line, value) in lines.chunks_exact_mut(PANEL).zip(&row[block * PANEL..]) {
                line[column] = *value;
            }
        }
    }
}

impl<T: Pooled> Drop for Packed<T> {
    fn drop(&mut self) {
        pool::give(std::mem::take(&mut self.buffer));
    }
}
