//! Matrix products with a packed right-hand side: blocks of C as tasks, tiles within a block.

use super::isa::Isa;
use super::tile::{self, Form, Kernel, MOST, MOST_PANELS, Scales, Tile};
use crate::kernels::{Narrow, NarrowForm, PANEL, Packed, check_gemm, narrow};
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

/// Distance of the rows of A that are made for a product: a line more than whole lines.
fn spread(depth: usize) -> usize {
    if depth == 0 { 0 } else { depth.next_multiple_of(PANEL) + PANEL }
}

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
    check_gemm(a, m, (b.k(), b.n()), c, bias);
    let kernel = tile::kernel(isa, Form::F32);
    let lhs = Lhs { words: words(a), row: b.k(), lies_well: b.k() <= SHORT_ROW };
    let rhs = Rhs { panels: words(b.panels()), depth: b.k(), integers: None };
    multiply(isa, threads, kernel, (lhs, m), (rhs, b.n()), c, accumulate, bias);
}

/// See [`Kernels::gemm_narrow`](crate::kernels::Kernels::gemm_narrow).
#[allow(clippy::too_many_arguments, reason = "the kernel's operands and the instruction set")]
pub fn gemm_narrow(
    isa: Isa,
    threads: &Threads,
    a: &[f32],
    m: usize,
    b: &Narrow,
    c: &mut [f32],
    accumulate: bool,
    bias: Option<&[f32]>,
) {
    check_gemm(a, m, (b.k(), b.n()), c, bias);
    let (depth, panels) = (b.words().k(), b.words().panels());
    let row = spread(depth);
    let (kernel, words, row_scales) = match b.form() {
        NarrowForm::Bf16 => {
            (tile::kernel(isa, Form::Bf16), narrow::bf16_rows(threads, a, b.k(), m, row), Vec::new())
        }
        NarrowForm::Int8 { .. } => {
            let kernel = tile::kernel(isa, Form::Int8);
            let (words, scales) = narrow::int8_rows(threads, a, b.k(), m, (row, kernel.flip));
            (kernel, words, scales)
        }
    };
    let integers = match b.form() {
        NarrowForm::Bf16 => None,
        NarrowForm::Int8 { scales, offsets } => {
            Some(Integers { row_scales: &row_scales, column_scales: scales, offsets })
        }
    };
    let lhs = Lhs { words: &words, row, lies_well: true };
    multiply(isa, threads, kernel, (lhs, m), (Rhs { panels, depth, integers }, b.n()), c, accumulate, bias);
    pool::give(words);
    pool::give(row_scales);
}

/// The bits of numbers.
pub(super) fn words(x: &[f32]) -> &[u32] {
    // SAFETY: both are of 4 bytes, equally aligned, and every pattern is valid.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
}

/// A in words, with the distance of its rows.
#[derive(Clone, Copy)]
struct Lhs<'a> {
    words: &'a [u32],
    row: usize,
    /// Whether many rows stay in the cache together where they lie.
    lies_well: bool,
}

/// B in panels of words.
#[derive(Clone, Copy)]
struct Rhs<'a> {
    panels: &'a [u32],
    depth: usize,
    /// Of bytes: what their sums stand for.
    integers: Option<Integers<'a>>,
}

/// See [`Scales`].
#[derive(Clone, Copy)]
struct Integers<'a> {
    row_scales: &'a [f32],
    column_scales: &'a [f32],
    offsets: &'a [i32],
}

#[allow(clippy::too_many_arguments, reason = "the kernel's operands and the instruction set")]
fn multiply(
    isa: Isa,
    threads: &Threads,
    kernel: Kernel,
    (a, m): (Lhs, usize),
    (b, n): (Rhs, usize),
    c: &mut [f32],
    accumulate: bool,
    bias: Option<&[f32]>,
) {
    if m == 0 || n == 0 {
        return;
    }
    if let (true, Some(bias)) = (accumulate, bias) {
        c.chunks_exact_mut(n).for_each(|row| super::add_assign(isa, row, bias));
    }
    let start = if accumulate { Start::C } else { bias.map_or(Start::Zero, Start::Bias) };
    let product = Product { kernel, a, b, c: SharedMut::new(c), n, start };
    let grid = Grid::new(threads.count(), m, b.depth, n);
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
    a: Lhs<'a>,
    b: Rhs<'a>,
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
        let again = strips > 1 && panels.len() > 1 && !self.a.lies_well;
        let mut copy = pool::take(if again { rows.len() * COPIED_ROW } else { 0 });
        // Integers are summed over the whole depth before they are scaled: there is no more to round.
        let whole = self.b.integers.is_some().then_some(0..self.b.depth);
        let blocks = depth_blocks(if whole.is_some() { 0 } else { self.b.depth });
        for depth in blocks.map(|block| whole.clone().unwrap_or(block)) {
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

    /// The block of A, with the distance of its rows. Where it is used more than once it is copied, unless it lies well:
    /// rows that lie a large power of two apart would drive each other out of the cache.
    fn lhs<'a>(
        &'a self,
        rows: &Range<usize>,
        depth: &Range<usize>,
        copy: &'a mut [u32],
    ) -> (&'a [u32], usize) {
        let Lhs { words, row, .. } = self.a;
        if copy.is_empty() {
            return (&words[rows.start * row + depth.start..], row);
        }
        for (to, place) in copy.chunks_exact_mut(COPIED_ROW).zip(rows.clone()) {
            to[..depth.len()].copy_from_slice(&words[place * row..][depth.clone()]);
        }
        (copy, COPIED_ROW)
    }

    /// # Safety
    /// As `block`.
    unsafe fn tile(
        &self,
        a: &[u32],
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
        let (k, columns) = (self.b.depth, (self.n - column).min(panels.len() * PANEL));
        let scales = self.b.integers.map_or(Scales::NONE, |integers| Scales {
            rows: integers.row_scales[rows.start..rows.end].as_ptr(),
            columns: integers.column_scales[column..column + panels.len() * PANEL].as_ptr(),
            offsets: integers.offsets[column..column + panels.len() * PANEL].as_ptr(),
        });
        let tile = Tile {
            a: a.as_ptr(),
            a_row,
            a_depth: 1,
            b: self.b.panels[panels.start * PANEL * k + depth.start * PANEL..].as_ptr(),
            b_panel: PANEL * k,
            depth: depth.len(),
            from,
            from_row,
            c: self.c.ptr(at),
            c_row: self.n,
            rows: rows.len(),
            panels: panels.len(),
            scales,
        };
        // SAFETY: the ranges lie within A, B and C, whose sizes were compared, and within the scales; the last panel's
        // missing columns are kept apart by `run`; C's part is the caller's promise.
        unsafe { run(self.kernel, tile, columns) }
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
