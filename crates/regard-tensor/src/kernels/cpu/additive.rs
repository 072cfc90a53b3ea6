//! Additive attention scores of one query.

use super::math::{self, fma};
use super::slices::{add_lanes, fold_lanes};

#[inline(always)]
pub(super) fn additive_scores_row<const FMA: bool>(q: &[f32], keys: &[f32], v: &[f32], out: &mut [f32]) {
    let width = q.len();
    assert!(v.len() == width && keys.len() == width * out.len());
    for (j, out) in out.iter_mut().enumerate() {
        *out = score::<FMA>(q, &keys[j * width..(j + 1) * width], v);
    }
}

/// Σ v·tanh(q + k), in lanes.
#[inline(always)]
fn score<const FMA: bool>(q: &[f32], key: &[f32], v: &[f32]) -> f32 {
    let step = |sum, [q, k, v]: [f32; 3]| fma::<FMA>(v, math::tanh::<FMA>(q + k), sum);
    add_lanes(fold_lanes([q, key, v], 0.0, step))
}

#[inline(always)]
pub(super) fn additive_scores_backward_row<const FMA: bool>(
    q: &[f32],
    keys: &[f32],
    v: &[f32],
    dscores: &[f32],
    [dq, dkeys, dv]: [&mut [f32]; 3],
) {
    let width = q.len();
    assert!(v.len() == width && keys.len() == width * dscores.len());
    assert!(dq.len() == width && dv.len() == width && dkeys.len() == keys.len());
    for (j, &dscore) in dscores.iter().enumerate() {
        let (key, dkey) = (&keys[j * width..(j + 1) * width], &mut dkeys[j * width..(j + 1) * width]);
        for a in 0..width {
            let t = math::tanh::<FMA>(q[a] + key[a]);
            let d = dscore * v[a] * (1.0 - t * t);
            dv[a] += dscore * t;
            dq[a] += d;
            dkey[a] += d;
        }
    }
}
