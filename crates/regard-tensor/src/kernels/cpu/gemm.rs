//! Matrix products with a packed right-hand side: blocks of C as tasks, tiles within a block.

use super::isa::Isa;
use super::tile::{self, Kernel, MOST, MOST_PANELS, Tile};
use crate::kernels::{PANEL, Packed, check_gemm};
use crate::pool;
use crate::threads::{SharedMut, Threads};
use std::ops::Range;

/// Most depth in a block. A longer chain costs less per link, but a panel's part of B (32 KiB) and the rows of A beside
/// it should come from the first two cache levels.
pub(super) const DEPTH: usize = 512;

/// Most rows of A in a block: with a block's depth they stay in the second-level cache.
pub(super) const BLOCK_ROWS: usize = 168;

/// Distance of the rows in a copied block of A: not a power of two, so that they spread over the cache.
const COPIED_ROW: usize = DEPTH + 16;

/// Rows of A up to this length, 1 KiB, are read where they lie.
const SHORT_ROW: usize = 256;

/// Multiply-adds that a task should have at least: some 10 µs.
pub(super) const TASK: usize = 1 << 19;

/// See [`Kernels::gemm`](crate::kernels::Kernels::gemm).
#[allow(clippy::too_many_arguments, reason = "the kernel's operands and the instruction set")]
pub fn gemm(
    isa: Isa,
    threads: &Threads,
    a: &[f32],
    m: usize,
    b: &Packed<f32>,
    c: &mut [f32],
    accumulate: bool,
    bias: Option<&[f32]>,
) {
    check_gemm(a, m, b, c, bias);
    let (k, n) = (b.k(), b.n());
    if m == 0 || n == 0 {
        return;
    }
    if let (true, Some(bias)) = (accumulate, bias) {
        c.chunks_exact_mut(n).for_each(|row| super::add_assign(isa, row, bias));
    }
    let start = if accumulate { Start::C } else { bias.map_or(Start::Zero, Start::Bias) };
    let kernel = tile::kernel(isa);
    let product = Product { kernel, a, k, b, c: SharedMut::new(c), n, start };
    let grid = Grid::new(threads.count(), m, k, n);
    threads.for_each(grid.rows * grid.panels, |task| {
        let (rows, panels) = grid.block(task, m, n.div_ceil(PANEL), kernel.rows);
        // SAFETY: the blocks of the grid do not overlap, and each task is run once.
        unsafe { product.block(rows, panels) };
    });
}

/// The blocks of a depth, of nearly equal size; one, even if the depth is 0. They depend on nothing else, as the sums'
/// bits depend on them.
pub(super) fn depth_blocks(depth: usize) -> impl Iterator<Item = Range<usize>> {
    let blocks = depth.div_ceil(DEPTH).max(1);
    (0..blocks).map(move |i| i * depth / blocks..(i + 1) * depth / blocks)
}

/// How C is cut into tasks.
struct Grid {
    rows: usize,
    panels: usize,
}

impl Grid {
    fn new(threads: usize, m: usize, k: usize, n: usize) -> Self {
        let (rows, panels) = (m.div_ceil(BLOCK_ROWS), n.div_ceil(PANEL));
        // Each task copies its rows of A, so there are few; but more than threads, which may be of different speed.
        let most = if threads == 1 { 1 } else { (m * k * n / TASK).clamp(1, 3 * threads) };
        Self { rows, panels: most.div_ceil(rows).min(panels) }
    }

    /// The rows and panels of a task. Blocks of rows are cut at whole tiles.
    fn block(&self, task: usize, m: usize, panels: usize, tile: usize) -> (Range<usize>, Range<usize>) {
        let part = |i: usize, parts: usize, count: usize| i * count / parts..(i + 1) * count / parts;
        let tiles = part(task / self.panels, self.rows, m.div_ceil(tile));
        (tiles.start * tile..(tiles.end * tile).min(m), part(task % self.panels, self.panels, panels))
    }
}

/// What the sums start from.
#[derive(Clone, Copy)]
enum Start<'a> {
    Zero,
    Bias(&'a [f32]),
    C,
}

struct Product<'a> {
    kernel: Kernel,
    a: &'a [f32],
    k: usize,
    b: &'a Packed<f32>,
    c: SharedMut<'a, f32>,
    n: usize,
    start: Start<'a>,
}

impl Product<'_> {
    /// # Safety
    /// Nobody else may touch these rows and panels of C.
    unsafe fn block(&self, rows: Range<usize>, panels: Range<usize>) {
        // Strips of nearly equal height: 4 + 4 rows are faster than 6 + 2.
        let strips = rows.len().div_ceil(self.kernel.rows);
        let strip =
            |i: usize| rows.start + i * rows.len() / strips..rows.start + (i + 1) * rows.len() / strips;
        let widest = (self.kernel.panels)(strip(strips - 1).len());
        let again = strips > 1 && panels.len() > 1 && self.k > SHORT_ROW;
        let mut copy = pool::take(if again { rows.len() * COPIED_ROW } else { 0 });
        for depth in depth_blocks(self.k) {
            let lhs = self.lhs(&rows, &depth, &mut copy);
            for first in panels.clone().step_by(widest) {
                for strip in (0..strips).map(strip) {
                    let (a, a_row) = (&lhs.0[(strip.start - rows.start) * lhs.1..], lhs.1);
                    let panels = first..panels.end.min(first + widest);
                    // SAFETY: handed on to the caller.
                    unsafe { self.tile(a, a_row, strip, panels, depth.clone()) };
                }
            }
        }
        pool::give(copy);
    }

    /// The block of A, with the distance of its rows. Where it is used more than once it is copied, unless the rows are
    /// short: rows that lie a large power of two apart would drive each other out of the cache.
    fn lhs<'a>(
        &'a self,
        rows: &Range<usize>,
        depth: &Range<usize>,
        copy: &'a mut [f32],
    ) -> (&'a [f32], usize) {
        if copy.is_empty() {
            return (&self.a[rows.start * self.k + depth.start..], self.k);
        }
        for (to, row) in copy.chunks_exact_mut(COPIED_ROW).zip(rows.clone()) {
            to[..depth.len()].copy_from_slice(&self.a[row * self.k..][depth.clone()]);
        }
        (copy, COPIED_ROW)
    }

    /// # Safety
    /// As `block`.
    unsafe fn tile(
        &self,
        a: &[f32],
        a_row: usize,
        rows: Range<usize>,
        panels: Range<usize>,
        depth: Range<usize>,
    ) {
        let (column, at) = (panels.start * PANEL, rows.start * self.n + panels.start * PANEL);
        let (from, from_row) = match self.start {
            _ if depth.start > 0 => (self.c.ptr(at).cast_const(), self.n),
            Start::C => (self.c.ptr(at).cast_const(), self.n),
            Start::Bias(bias) => (bias[column..].as_ptr(), 0),
            Start::Zero => (ZEROS.as_ptr(), 0),
        };
        let tile = Tile {
            a: a.as_ptr(),
            a_row,
            a_depth: 1,
            b: self.b.panels()[panels.start * PANEL * self.k + depth.start * PANEL..].as_ptr(),
            b_panel: PANEL * self.k,
            depth: depth.len(),
            from,
            from_row,
            c: self.c.ptr(at),
            c_row: self.n,
            rows: rows.len(),
            panels: panels.len(),
        };
        // SAFETY: the ranges lie within A, B and C, whose sizes `check_gemm` compared; the last panel's missing columns
        // are kept apart by `run`; C's part is the caller's promise.
        unsafe { run(self.kernel, tile, (self.n - column).min(panels.len() * PANEL)) };
    }
}

/// A start of nothing for as many panels as a tile has at most.
pub(super) static ZEROS: [f32; MOST_PANELS * PANEL] = [0.0; MOST_PANELS * PANEL];

/// Runs a tile of which `columns` exist in C; the rest of the last panel is kept out of C.
///
/// # Safety
/// As [`Kernel::run`] says, for the columns that exist.
pub(super) unsafe fn run(kernel: Kernel, tile: Tile, columns: usize) {
    if columns == tile.panels * PANEL {
        // SAFETY: handed on to the caller.
        return unsafe { (kernel.run)(&tile) };
    }
    let mut whole = [0.0_f32; MOST];
    let width = tile.panels * PANEL;
    let c = whole.as_mut_ptr();
    let inner = Tile { from: c.cast_const(), from_row: width, c, c_row: width, ..tile };
    // SAFETY: only the existing columns of the start and of C are touched; `whole` holds all of the tile.
    unsafe {
        for row in 0..tile.rows {
            inner.c.add(row * width).copy_from_nonoverlapping(tile.from.add(row * tile.from_row), columns);
        }
        (kernel.run)(&inner);
        for row in 0..tile.rows {
            tile.c.add(row * tile.c_row).copy_from_nonoverlapping(inner.c.add(row * width), columns);
        }
    }
}
