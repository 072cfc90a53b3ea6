//! The weight gradient dYᵀ·X: one long product over the rows of all segments, cut by rows of the result.

use super::gemm::{BLOCK_ROWS, DEPTH, TASK, ZEROS, depth_blocks, run, words};
use super::isa::Isa;
use super::tile::{self, Form, Kernel, Scales, Tile};
use crate::kernels::{PANEL, Packed, Segment, check_gemm_tn, narrow, rows_of};
use crate::pool;
use crate::threads::Threads;
use std::ops::Range;

/// See [`Kernels::gemm_tn`](crate::kernels::Kernels::gemm_tn).
#[allow(clippy::too_many_arguments, reason = "the kernel's operands and the instruction set")]
pub fn gemm_tn(
    isa: Isa,
    threads: &Threads,
    segments: &[impl Segment<f32>],
    n_out: usize,
    n_in: usize,
    c: &mut [f32],
    accumulate: bool,
) {
    check_gemm_tn(segments, n_out, n_in, c);
    let x = Packed::from_row_blocks(threads, &segments.iter().map(Segment::x), n_in);
    let gradients = segments.iter().map(|segment| words(segment.dy()));
    let rhs = Rhs { panels: words(x.panels()), depth: x.k(), n: n_in };
    multiply(threads, tile::kernel(isa, Form::F32), &gradients, rhs, c, accumulate);
}

/// See [`Kernels::gemm_tn_bf16`](crate::kernels::Kernels::gemm_tn_bf16).
#[allow(clippy::too_many_arguments, reason = "the kernel's operands and the instruction set")]
pub fn gemm_tn_bf16(
    isa: Isa,
    threads: &Threads,
    segments: &[impl Segment<f32>],
    n_out: usize,
    n_in: usize,
    c: &mut [f32],
    accumulate: bool,
) {
    let depth = check_gemm_tn(segments, n_out, n_in, c).div_ceil(2);
    let lines = narrow::bf16_pairs(threads, &segments.iter().map(Segment::x), n_in);
    let x = Packed::from_rows(threads, &lines, depth, n_in);
    pool::give(lines);
    let gradients = narrow::bf16_pairs(threads, &segments.iter().map(Segment::dy), n_out);
    let rhs = Rhs { panels: x.panels(), depth, n: n_in };
    multiply(threads, tile::kernel(isa, Form::Bf16), &std::iter::once(&gradients[..]), rhs, c, accumulate);
    pool::give(gradients);
}

/// X in panels of words.
#[derive(Clone, Copy)]
struct Rhs<'a> {
    panels: &'a [u32],
    depth: usize,
    n: usize,
}

/// C = dYᵀ·X for the words of dY, in blocks of rows.
fn multiply<'a>(
    threads: &Threads,
    kernel: Kernel,
    dy: &(impl Iterator<Item = &'a [u32]> + Clone + Sync),
    x: Rhs,
    c: &mut [f32],
    accumulate: bool,
) {
    if c.is_empty() {
        return;
    }
    let n_out = c.len() / x.n;
    // As many blocks for each thread, and each block's part of dY, packed, within the second-level cache.
    let shares = if x.depth * c.len() < TASK { 1 } else { threads.count() };
    let blocks = n_out.div_ceil(BLOCK_ROWS).next_multiple_of(shares);
    let rows = n_out.div_ceil(blocks).next_multiple_of(kernel.rows);
    threads.chunks_mut(c, rows * x.n, |block, c| {
        let mut gradient = Gradient { kernel, x, c, strips: pool::take(rows * DEPTH) };
        for depth in depth_blocks(x.depth) {
            gradient.pack(rows_of(dy.clone(), n_out, depth.clone()), block * rows);
            gradient.add(depth.clone(), accumulate || depth.start > 0);
        }
        pool::give(gradient.strips);
    });
}

/// A block of rows of the result.
struct Gradient<'a> {
    kernel: Kernel,
    x: Rhs<'a>,
    c: &'a mut [f32],
    /// The block's part of dYᵀ, a tile's rows at a time: strip s holds, for each depth in turn, the values of its rows.
    strips: Vec<u32>,
}

impl Gradient<'_> {
    fn rows(&self) -> usize {
        self.c.len() / self.x.n
    }

    /// Packs the columns `first..first + rows` of some rows of dY.
    fn pack<'a>(&mut self, dy: impl Iterator<Item = &'a [u32]>, first: usize) {
        let (rows, height) = (self.rows(), self.kernel.rows);
        for (at, dy) in dy.enumerate() {
            let strips = self.strips.chunks_exact_mut(height * DEPTH);
            for (values, strip) in dy[first..first + rows].chunks(height).zip(strips) {
                copy(&mut strip[at * height..][..values.len()], values);
            }
        }
    }

    /// Adds the packed part's product to C, or puts it there.
    fn add(&mut self, depth: Range<usize>, accumulate: bool) {
        let (rows, n, height) = (self.rows(), self.x.n, self.kernel.rows);
        let panels = n.div_ceil(PANEL);
        let widest = (self.kernel.panels)(height);
        for panel in (0..panels).step_by(widest) {
            let column = panel * PANEL;
            for row in (0..rows).step_by(height) {
                let c = self.c[row * n + column..].as_mut_ptr();
                let (from, from_row) = if accumulate { (c.cast_const(), n) } else { (ZEROS.as_ptr(), 0) };
                let tile = Tile {
                    a: self.strips[row * DEPTH..].as_ptr(),
                    a_row: 1,
                    a_depth: height,
                    b: self.x.panels[(panel * self.x.depth + depth.start) * PANEL..].as_ptr(),
                    b_panel: PANEL * self.x.depth,
                    depth: depth.len(),
                    from,
                    from_row,
                    c,
                    c_row: n,
                    rows: height.min(rows - row),
                    panels: widest.min(panels - panel),
                    scales: Scales::NONE,
                };
                // SAFETY: the strip, the panels' part and the tile's rows and columns of C exist, and C is ours.
                unsafe { run(self.kernel, tile, (tile.panels * PANEL).min(n - column)) };
            }
        }
    }
}

/// Copies a few values: of the heights of tiles in moves of known length, as one of unknown length is a call.
fn copy(to: &mut [u32], values: &[u32]) {
    match values.len() {
        12 => to[..12].copy_from_slice(&values[..12]),
        6 => to[..6].copy_from_slice(&values[..6]),
        4 => to[..4].copy_from_slice(&values[..4]),
        _ => to.copy_from_slice(values),
    }
}
