//! The fast kernels for `f32`. Each body is written once, in plain Rust on small blocks, and compiled for AVX-512, for AVX2
//! with fused multiply-add and for any processor; which one runs is decided when the program runs. (The innermost loop
//! of the matrix products, `tile`, is written for each.)

#![allow(
    unsafe_code,
    reason = "instruction sets are chosen at run time; tiles of a matrix are reached by pointer"
)]
#![allow(
    clippy::inline_always,
    reason = "a body must be inlined into each function that enables instructions"
)]

mod additive;
mod cells;
mod gates;
mod gemm;
mod gemm_tn;
mod head_rows;
mod isa;
mod math;
mod norm;
mod slices;
mod softmax;
mod tile;
mod words;

pub use gemm::{gemm, gemm_narrow};
pub use gemm_tn::{gemm_tn, gemm_tn_bf16};
pub use isa::Isa;

use crate::kernels::AdamNumbers;

/// Declares kernels that run a body compiled for the instruction set that they are given.
macro_rules! dispatch {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $module:ident;)*) => { $(
        #[doc = concat!("See [`Kernels::", stringify!($name), "`](super::Kernels::", stringify!($name), ").")]
        #[inline]
        pub fn $name(isa: Isa, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            if isa.is_avx512() {
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
                fn avx512($($arg: $ty),*) $(-> $ret)? {
                    $module::$name::<true>($($arg),*)
                }
                // SAFETY: `isa` is AVX-512 only where the processor has it.
                return unsafe { avx512($($arg),*) };
            }
            #[cfg(target_arch = "x86_64")]
            if isa.is_avx2() {
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    $module::$name::<true>($($arg),*)
                }
                // SAFETY: `isa` is AVX2 only where the processor has it.
                return unsafe { avx2($($arg),*) };
            }
            $module::$name::<{ isa::PORTABLE_FMA }>($($arg),*)
        }
    )* };
}

dispatch! {
    fn dot(a: &[f32], b: &[f32]) -> f32 = slices;
    fn axpy(alpha: f32, x: &[f32], y: &mut [f32]) = slices;
    fn add_assign(y: &mut [f32], x: &[f32]) = slices;
    fn mul_assign(y: &mut [f32], x: &[f32]) = slices;
    fn scale(x: &mut [f32], by: f32) = slices;
    fn subtract_and_scale(x: &mut [f32], less: f32, by: f32) = slices;
    fn add_column_sums(rows: &[f32], sums: &mut [f32]) = slices;
    fn normalise_row(x: &[f32], epsilon: f32, out: &mut [f32]) -> f32 = norm;
    fn scale_and_shift(x: &mut [f32], by: &[f32], plus: &[f32]) = norm;
    fn sum_slice(x: &[f32]) -> f32 = slices;
    fn sum_squares(x: &[f32]) -> f64 = slices;
    fn exp_slice(x: &mut [f32]) = slices;
    fn tanh_slice(x: &mut [f32]) = slices;
    fn sigmoid_slice(x: &mut [f32]) = slices;
    fn gelu_slice(x: &mut [f32]) = gates;
    fn gelu_backward_slice(x: &[f32], dy: &[f32], dx: &mut [f32]) = gates;
    fn swish_slice(x: &mut [f32]) = gates;
    fn swish_backward_slice(x: &[f32], dy: &[f32], dx: &mut [f32]) = gates;
    fn log_sum_exp(x: &[f32]) -> f32 = softmax;
    fn largest(x: &[f32]) -> f32 = softmax;
    fn softmax_row(x: &mut [f32]) = softmax;
    fn log_softmax_row(x: &mut [f32]) = softmax;
    fn log_softmax_terms(x: &[f32], peaks: &mut [f32]) -> (f32, f32) = softmax;
    fn head_scores_row(q: &[f32], keys: &[&[f32]], heads: usize, factor: f32, out: &mut [f32]) = head_rows;
    fn head_contexts_row(w: &[f32], values: &[&[f32]], heads: usize, out: &mut [f32]) = head_rows;
    fn lstm_cell_row(gates: &[f32], c_prev: &[f32], h: &mut [f32], c: &mut [f32], saved: &mut [f32]) = cells;
    fn lstm_cell_backward_row(
        saved: &[f32], c_prev: &[f32], dh: &[f32], dc: &[f32], dgates: &mut [f32], dc_prev: &mut [f32],
    ) = cells;
    fn gru_cell_row(x_gates: &[f32], h_gates: &[f32], h_prev: &[f32], h: &mut [f32], saved: &mut [f32]) = cells;
    fn gru_cell_backward_row(
        saved: &[f32], h_gates: &[f32], h_prev: &[f32], dh: &[f32], gradients: [&mut [f32]; 3],
    ) = cells;
    fn additive_scores_row(q: &[f32], keys: &[f32], v: &[f32], out: &mut [f32]) = additive;
    fn additive_scores_backward_row(
        q: &[f32], keys: &[f32], v: &[f32], dscores: &[f32], gradients: [&mut [f32]; 3],
    ) = additive;
    fn bf16_words(row: &[f32], words: &mut [u32]) = words;
    fn bf16_pair_words(first: &[f32], second: &[f32], words: &mut [u32]) = words;
    fn int8_scale(row: &[f32]) -> f32 = words;
    fn int8_words(row: &[f32], scale: f32, flip: u32, words: &mut [u32]) = words;
    fn adam_update(param: &mut [f32], grad: &[f32], m: &mut [f32], v: &mut [f32], numbers: &AdamNumbers) = slices;
}
