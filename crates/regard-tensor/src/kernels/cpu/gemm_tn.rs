//! The weight gradient dYᵀ·X: one long product over the rows of all segments, cut by rows of the result.

use super::gemm::{DEPTH, run};
use super::isa::Isa;
use super::tile::{self, Kernel, ROWS, Tile};
use crate::kernels::{PANEL, Packed, check_gemm_tn};
use crate::pool;
use crate::threads::Threads;

/// Most rows of the result in a task: their part of dY, packed, stays in the second-level cache.
const BLOCK_ROWS: usize = 96;

/// A segment's dY, X and number of rows.
type Segment<'a> = (&'a [f32], &'a [f32], usize);

/// See [`Kernels::gemm_tn`](crate::kernels::Kernels::gemm_tn).
#[allow(clippy::too_many_arguments, reason = "the kernel's operands and the instruction set")]
pub fn gemm_tn(
    isa: Isa,
    threads: &Threads,
    segments: &[Segment<'_>],
    n_out: usize,
    n_in: usize,
    c: &mut [f32],
    accumulate: bool,
) {
    check_gemm_tn(segments, n_out, n_in, c);
    if !accumulate {
        c.fill(0.0);
    }
    if c.is_empty() {
        return;
    }
    let inputs: Vec<&[f32]> = segments.iter().map(|&(_, x, _)| x).collect();
    let x = Packed::from_row_blocks(threads, &inputs, n_in);
    let rows = BLOCK_ROWS.min(n_out.div_ceil(4 * threads.count()).next_multiple_of(ROWS));
    threads.chunks_mut(c, rows * n_in, |block, c| {
        let mut gradient = Gradient { kernel: tile::kernel(isa), x: &x, c, strips: pool::take(rows * DEPTH) };
        let mut depth = 0;
        while depth < x.k() {
            let end = x.k().min(depth + DEPTH);
            gradient.pack(segments, n_out, block * rows, depth..end);
            gradient.add(depth..end);
            depth = end;
        }
        pool::give(gradient.strips);
    });
}

/// A block of rows of the result.
struct Gradient<'a> {
    kernel: Kernel,
    x: &'a Packed<f32>,
    c: &'a mut [f32],
    /// The block's part of dYᵀ, 6 rows at a time: strip s holds, for each depth in turn, the 6 values of its rows.
    strips: Vec<f32>,
}

impl Gradient<'_> {
    fn rows(&self) -> usize {
        self.c.len() / self.x.n()
    }

    /// Packs the columns `first..first + rows` of the rows `depth` of all dY.
    fn pack(&mut self, segments: &[Segment<'_>], n_out: usize, first: usize, depth: std::ops::Range<usize>) {
        let rows = self.rows();
        let all = segments.iter().flat_map(|(dy, _, _)| dy.chunks_exact(n_out));
        for (at, dy) in all.skip(depth.start).take(depth.len()).enumerate() {
            let strips = self.strips.chunks_exact_mut(ROWS * DEPTH);
            for (values, strip) in dy[first..first + rows].chunks(ROWS).zip(strips) {
                strip[at * ROWS..][..values.len()].copy_from_slice(values);
            }
        }
    }

    /// Adds the packed part's product.
    fn add(&mut self, depth: std::ops::Range<usize>) {
        let (rows, n) = (self.rows(), self.x.n());
        for (panel, column) in (0..n).step_by(PANEL).enumerate() {
            for row in (0..rows).step_by(ROWS) {
                let c = self.c[row * n + column..].as_mut_ptr();
                let tile = Tile {
                    a: self.strips[row * DEPTH..].as_ptr(),
                    a_row: 1,
                    a_depth: ROWS,
                    b: self.x.panels()[(panel * self.x.k() + depth.start) * PANEL..].as_ptr(),
                    b_panel: 0,
                    depth: depth.len(),
                    from: c,
                    from_row: n,
                    c,
                    c_row: n,
                    rows: ROWS.min(rows - row),
                    panels: 1,
                };
                // SAFETY: the strip, the panel's part and the tile's rows and columns of C exist, and C is ours.
                unsafe { run(self.kernel, tile, PANEL.min(n - column)) };
            }
        }
    }
}
