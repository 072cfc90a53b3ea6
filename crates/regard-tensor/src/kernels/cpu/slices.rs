//! Functions of slices: products, sums and functions element by element.

use super::math::{self, fma};
use crate::kernels::AdamNumbers;

/// Partial results of a reduction: element i goes to lane i mod 32, so that zeros behind the end change nothing.
pub(super) const LANES: usize = 32;

/// Folds slices of one length in lanes, by `step(the lane so far, one element of each slice)`.
#[inline(always)]
pub(super) fn fold_lanes<const N: usize>(
    slices: [&[f32]; N],
    start: f32,
    step: impl Fn(f32, [f32; N]) -> f32,
) -> [f32; LANES] {
    let len = slices.first().map_or(0, |slice| slice.len());
    assert!(slices.iter().all(|slice| slice.len() == len));
    let parts = slices.map(|slice| slice.as_chunks::<LANES>());
    let mut lanes: [f32; LANES] = [start; LANES];
    for block in 0..len / LANES {
        let blocks = parts.map(|(blocks, _)| &blocks[block]);
        lanes = std::array::from_fn(|lane| step(lanes[lane], blocks.map(|block| block[lane])));
    }
    // Through memory: else compilers cut the loop above into the pairs in which the lanes are added up in the end.
    let mut lanes = std::hint::black_box(lanes);
    for (at, lane) in lanes.iter_mut().enumerate().take(len % LANES) {
        *lane = step(*lane, parts.map(|(_, rest)| rest[at]));
    }
    lanes
}

/// The lanes' sum, by halves.
#[inline(always)]
pub(super) fn add_lanes(lanes: [f32; LANES]) -> f32 {
    halved(lanes, |a, b| a + b)
}

/// One result of all lanes, by halves.
#[inline(always)]
pub(super) fn halved(lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let sixteen: [f32; 16] = std::array::from_fn(|lane| join(lanes[lane], lanes[lane + 16]));
    let eight: [f32; 8] = std::array::from_fn(|lane| join(sixteen[lane], sixteen[lane + 8]));
    let four: [f32; 4] = std::array::from_fn(|lane| join(eight[lane], eight[lane + 4]));
    join(join(four[0], four[2]), join(four[1], four[3]))
}

#[inline(always)]
pub(super) fn dot<const FMA: bool>(a: &[f32], b: &[f32]) -> f32 {
    add_lanes(fold_lanes([a, b], 0.0, |sum, [a, b]| fma::<FMA>(a, b, sum)))
}

#[inline(always)]
pub(super) fn axpy<const FMA: bool>(alpha: f32, x: &[f32], y: &mut [f32]) {
    assert_eq!(x.len(), y.len());
    for (y, &x) in y.iter_mut().zip(x) {
        *y = fma::<FMA>(alpha, x, *y);
    }
}

#[inline(always)]
pub(super) fn add_assign<const FMA: bool>(y: &mut [f32], x: &[f32]) {
    assert_eq!(x.len(), y.len());
    for (y, &x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

#[inline(always)]
pub(super) fn mul_assign<const FMA: bool>(y: &mut [f32], x: &[f32]) {
    assert_eq!(x.len(), y.len());
    for (y, &x) in y.iter_mut().zip(x) {
        *y *= x;
    }
}

#[inline(always)]
pub(super) fn subtract_and_scale<const FMA: bool>(x: &mut [f32], less: f32, by: f32) {
    for x in x {
        *x = (*x - less) * by;
    }
}

#[inline(always)]
pub(super) fn scale<const FMA: bool>(x: &mut [f32], by: f32) {
    for x in x {
        *x *= by;
    }
}

#[inline(always)]
pub(super) fn add_column_sums<const FMA: bool>(rows: &[f32], sums: &mut [f32]) {
    if sums.is_empty() {
        return;
    }
    assert_eq!(rows.len() % sums.len(), 0, "whole rows");
    for row in rows.chunks_exact(sums.len()) {
        add_assign::<FMA>(sums, row);
    }
}

#[inline(always)]
pub(super) fn sum_slice<const FMA: bool>(x: &[f32]) -> f32 {
    add_lanes(fold_lanes([x], 0.0, |sum, [x]| sum + x))
}

#[inline(always)]
pub(super) fn sum_squares<const FMA: bool>(x: &[f32]) -> f64 {
    const WIDE: usize = 16;
    let square = |x: f32| f64::from(x) * f64::from(x);
    let mut lanes = [0.0; WIDE];
    let (blocks, rest) = x.as_chunks::<WIDE>();
    for x in blocks {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += square(x[lane]);
        }
    }
    for (&x, sum) in rest.iter().zip(&mut lanes) {
        *sum += square(x);
    }
    lanes.iter().sum()
}

#[inline(always)]
pub(super) fn exp_slice<const FMA: bool>(x: &mut [f32]) {
    for x in x {
        *x = math::exp::<FMA>(*x);
    }
}

#[inline(always)]
pub(super) fn tanh_slice<const FMA: bool>(x: &mut [f32]) {
    for x in x {
        *x = math::tanh::<FMA>(*x);
    }
}

#[inline(always)]
pub(super) fn sigmoid_slice<const FMA: bool>(x: &mut [f32]) {
    for x in x {
        *x = math::sigmoid::<FMA>(*x);
    }
}

#[inline(always)]
pub(super) fn adam_update<const FMA: bool>(
    param: &mut [f32],
    grad: &[f32],
    m: &mut [f32],
    v: &mut [f32],
    numbers: &AdamNumbers,
) {
    let len = param.len();
    assert!(grad.len() == len && m.len() == len && v.len() == len);
    let [beta1, beta2, rest1, rest2, keep, rate, root, epsilon] = numbers.factors().map(|x| x as f32);
    for (((p, &g), m), v) in param.iter_mut().zip(grad).zip(m).zip(v) {
        *m = beta1 * *m + rest1 * g;
        *v = beta2 * *v + rest2 * (g * g);
        *p = keep * *p - rate * *m / (v.sqrt() * root + epsilon);
    }
}
