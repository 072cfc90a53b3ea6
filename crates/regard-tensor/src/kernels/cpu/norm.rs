//! Layer normalisation of one row.

use super::slices;

#[inline(always)]
pub(super) fn normalise_row<const FMA: bool>(x: &[f32], epsilon: f32, out: &mut [f32]) -> f32 {
    assert_eq!(x.len(), out.len());
    let count = x.len() as f32;
    let mean = slices::sum_slice::<FMA>(x) / count;
    for (out, &x) in out.iter_mut().zip(x) {
        *out = x - mean;
    }
    let variance = slices::dot::<FMA>(out, out) / count;
    let scale = 1.0 / (variance + epsilon).sqrt();
    slices::scale::<FMA>(out, scale);
    scale
}

#[inline(always)]
pub(super) fn scale_and_shift<const FMA: bool>(x: &mut [f32], by: &[f32], plus: &[f32]) {
    assert!(by.len() == x.len() && plus.len() == x.len());
    for ((x, &by), &plus) in x.iter_mut().zip(by).zip(plus) {
        *x = *x * by + plus;
    }
}
