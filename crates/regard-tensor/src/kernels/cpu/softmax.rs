//! Softmax and its logarithm over one row.

use super::math;
use super::slices::{add_lanes, fold_lanes, halved};
use crate::kernels::{PEAK_BLOCK, check_peaks};

/// NaN is passed over: its exponential brings it back.
#[inline(always)]
pub(super) fn largest<const FMA: bool>(x: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    halved(fold_lanes([x], f32::NEG_INFINITY, |most, [x]| larger(most, x)), larger)
}

/// Σ e^(x − max).
#[inline(always)]
fn sum_exp<const FMA: bool>(x: &[f32], max: f32) -> f32 {
    add_lanes(fold_lanes([x], 0.0, |sum, [x]| sum + math::exp::<FMA>(x - max)))
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
