//! Attention of many heads by one row, to keys and values that lie row by row in different places.

use super::math::fma;
use super::slices;
use crate::kernels::check_head_rows;

/// Columns that are summed in registers at once.
const BLOCK: usize = 32;

#[inline(always)]
pub(super) fn head_scores_row<const FMA: bool>(
    q: &[f32],
    keys: &[&[f32]],
    heads: usize,
    factor: f32,
    out: &mut [f32],
) {
    let width = check_head_rows(q, keys, heads, out);
    for (j, key) in keys.iter().enumerate() {
        for (head, (q, key)) in q.chunks_exact(width).zip(key.chunks_exact(width)).enumerate() {
            out[head * keys.len() + j] = factor * slices::dot::<FMA>(q, key);
        }
    }
}

#[inline(always)]
pub(super) fn head_contexts_row<const FMA: bool>(
    w: &[f32],
    values: &[&[f32]],
    heads: usize,
    out: &mut [f32],
) {
    let width = check_head_rows(out, values, heads, w);
    for (head, out) in out.chunks_exact_mut(width).enumerate() {
        let w = &w[head * values.len()..][..values.len()];
        let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
        let behind = (head + 1) * width - rest.len();
        for (block, sums) in blocks.iter_mut().enumerate() {
            let from = head * width + block * BLOCK;
            let mut lanes = [0.0; BLOCK];
            for (&w, row) in w.iter().zip(values) {
                let row = &row[from..from + BLOCK];
                for (lane, sum) in lanes.iter_mut().enumerate() {
                    *sum = fma::<FMA>(w, row[lane], *sum);
                }
            }
            *sums = lanes;
        }
        rest.fill(0.0);
        for (&w, row) in w.iter().zip(values) {
            for (sum, &value) in rest.iter_mut().zip(&row[behind..]) {
                *sum = fma::<FMA>(w, value, *sum);
            }
        }
    }
}
