//! Functions that let a number through in part: GELU (Hendrycks & Gimpel 2016) and swish (Ramachandran et al. 2017).

use super::math::{self, fma};

#[inline(always)]
pub(super) fn gelu_slice<const FMA: bool>(x: &mut [f32]) {
    for x in x {
        *x *= math::normal::<FMA>(*x).0;
    }
}

#[inline(always)]
pub(super) fn gelu_backward_slice<const FMA: bool>(x: &[f32], dy: &[f32], dx: &mut [f32]) {
    assert!(x.len() == dx.len() && dy.len() == dx.len());
    for ((&x, &dy), dx) in x.iter().zip(dy).zip(dx) {
        let (below, density) = math::normal::<FMA>(x);
        *dx = fma::<FMA>(dy, fma::<FMA>(x, density, below), *dx);
    }
}

#[inline(always)]
pub(super) fn swish_slice<const FMA: bool>(x: &mut [f32]) {
    for x in x {
        *x *= math::sigmoid::<FMA>(*x);
    }
}

#[inline(always)]
pub(super) fn swish_backward_slice<const FMA: bool>(x: &[f32], dy: &[f32], dx: &mut [f32]) {
    assert!(x.len() == dx.len() && dy.len() == dx.len());
    for ((&x, &dy), dx) in x.iter().zip(dy).zip(dx) {
        let gate = math::sigmoid::<FMA>(x);
        *dx = fma::<FMA>(dy, gate * fma::<FMA>(x, 1.0 - gate, 1.0), *dx);
    }
}
