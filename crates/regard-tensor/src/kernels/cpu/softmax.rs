//! Softmax and its logarithm over one row.

use super::math;
use super::slices::{LANES, add_lanes};
use crate::kernels::{PEAK_BLOCK, check_peaks};

/// NaN is passed over: its exponential brings it back.
#[inline(always)]
pub(super) fn largest<const FMA: bool>(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (blocks, rest) = x.as_chunks::<LANES>();
    for x in blocks {
        for (lane, max) in lanes.iter_mut().enumerate() {
            *max = larger(*max, x[lane]);
        }
    }
    for (&x, max) in rest.iter().zip(&mut lanes) {
        *max = larger(*max, x);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = larger(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Σ e^(x − max).
#[inline(always)]
fn sum_exp<const FMA: bool>(x: &[f32], max: f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (blocks, rest) = x.as_chunks::<LANES>();
    for x in blocks {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += math::exp::<FMA>(x[lane] - max);
        }
    }
    for (&x, sum) in rest.iter().zip(&mut lanes) {
        *sum += math::exp::<FMA>(x - max);
    }
    add_lanes(lanes)
}

#[inline(always)]
pub(super) fn log_sum_exp<const FMA: bool>(x: &[f32]) -> f32 {
    let max = largest::<FMA>(x);
    if max == f32::NEG_INFINITY {
        x.iter().fold(max, |sum, &x| sum + x)
    } else {
        max + sum_exp::<FMA>(x, max).ln()
    }
}

#[inline(always)]
pub(super) fn softmax_row<const FMA: bool>(x: &mut [f32]) {
    let max = largest::<FMA>(x);
    if max == f32::NEG_INFINITY {
        // −∞ becomes 0; NaN, if that is what the row holds, stays.
        return x.iter_mut().filter(|x| **x == f32::NEG_INFINITY).for_each(|x| *x = 0.0);
    }
    for x in x.iter_mut() {
        *x = math::exp::<FMA>(*x - max);
    }
    let sum = super::slices::sum_slice::<FMA>(x);
    for x in x {
        *x /= sum;
    }
}

#[inline(always)]
pub(super) fn log_softmax_row<const FMA: bool>(x: &mut [f32]) {
    let max = largest::<FMA>(x);
    if max == f32::NEG_INFINITY {
        return;
    }
    let log_sum = sum_exp::<FMA>(x, max).ln();
    for x in x {
        *x = (*x - max) - log_sum;
    }
}

#[inline(always)]
pub(super) fn log_softmax_terms<const FMA: bool>(x: &[f32], peaks: &mut [f32]) -> (f32, f32) {
    check_peaks(x, peaks);
    for (peak, x) in peaks.iter_mut().zip(x.chunks(PEAK_BLOCK)) {
        *peak = largest::<FMA>(x);
    }
    let max = largest::<FMA>(peaks);
    if max == f32::NEG_INFINITY { (0.0, 0.0) } else { (max, sum_exp::<FMA>(x, max).ln()) }
}
