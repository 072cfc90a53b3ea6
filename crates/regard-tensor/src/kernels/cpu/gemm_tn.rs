//! The weight gradient dYᵀ·X: one long product over the rows of all segments, cut by rows of the result.

use super::gemm::{BLOCK_ROWS, DEPTH, TASK, ZEROS, depth_blocks, run};
use super::isa::Isa;
use super::tile::{self, Kernel, ROWS, Tile};
use crate::kernels::{PANEL, Packed, check_gemm_tn};
use crate::pool;
use crate::threads::Threads;
use std::ops::Range;

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
    let depth = check_gemm_tn(segments, n_out, n_in, c);
    if c.is_empty() {
        return;
    }
    let inputs: Vec<&[f32]> = segments.iter().map(|&(_, x, _)| x).collect();
    let x = Packed::from_row_blocks(threads, &inputs, n_in);
    // As many blocks for each thread, and each block's part of dY, packed, within the second-level cache.
    let shares = if depth * c.len() < TASK { 1 } else { threads.count() };
    let blocks = n_out.div_ceil(BLOCK_ROWS).next_multiple_of(shares);
    let rows = n_out.div_ceil(blocks).next_multiple_of(ROWS);
    threads.chunks_mut(c, rows * n_in, |block, c| {
        let mut gradient = Gradient { kernel: tile::kernel(isa), x: &x, c, strips: pool::take(rows * DEPTH) };
        for depth in depth_blocks(x.k()) {
            gradient.pack(segments, n_out, block * rows, depth.clone());
            gradient.add(depth.clone(), accumulate || depth.start > 0);
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
    fn pack(&mut self, segments: &[Segment<'_>], n_out: usize, first: usize, depth: Range<usize>) {
        let rows = self.rows();
        let all = segments.iter().flat_map(|(dy, _, _)| dy.chunks_exact(n_out));
        for (at, dy) in all.skip(depth.start).take(depth.len()).enumerate() {
            let strips = self.strips.chunks_exact_mut(ROWS * DEPTH);
            for (values, strip) in dy[first..first + rows].chunks(ROWS).zip(strips) {
                let to = &mut strip[at * ROWS..][..values.len()];
                // A copy of known length is two moves, one of unknown length is a call.
                match (<&mut [f32; ROWS]>::try_from(&mut *to), <&[f32; ROWS]>::try_from(values)) {
                    (Ok(to), Ok(values)) => *to = *values,
                    _ => to.copy_from_slice(values),
                }
            }
        }
    }

    /// Adds the packed part's product to C, or puts it there.
    fn add(&mut self, depth: Range<usize>, accumulate: bool) {
        let (rows, n) = (self.rows(), self.x.n());
        for (panel, column) in (0..n).step_by(PANEL).enumerate() {
            for row in (0..rows).step_by(ROWS) {
                let c = self.c[row * n + column..].as_mut_ptr();
                let (from, from_row) = if accumulate { (c.cast_const(), n) } else { (ZEROS.as_ptr(), 0) };
                let tile = Tile {
                    a: self.strips[row * DEPTH..].as_ptr(),
                    a_row: 1,
                    a_depth: ROWS,
                    b: self.x.panels()[(panel * self.x.k() + depth.start) * PANEL..].as_ptr(),
                    b_panel: 0,
                    depth: depth.len(),
                    from,
                    from_row,
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
