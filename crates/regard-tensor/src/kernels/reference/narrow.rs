//! Products in fewer bits, as plainly as their formulas.

use crate::element::Number;
use crate::kernels::{Narrow, NarrowForm, Segment};
use crate::threads::Threads;

/// See [`Kernels::gemm_narrow`](crate::kernels::Kernels::gemm_narrow).
pub fn gemm_narrow<T: Number>(
    threads: &Threads,
    a: &[T],
    m: usize,
    b: &Narrow,
    c: &mut [T],
    accumulate: bool,
    bias: Option<&[T]>,
) {
    let (k, n) = (b.k(), b.n());
    crate::kernels::check_gemm(a, m, (k, n), c, bias);
    threads.chunks_mut(c, n, |row, c| {
        let a = &a[row * k..][..k];
        let (a, scale) = match b.form() {
            NarrowForm::Bf16 => (a.iter().map(|&a| rounded(a)).collect::<Vec<_>>(), 1.0),
            NarrowForm::Int8 { .. } => {
                let scale = int8_scale(a);
                (a.iter().map(|&a| T::from_f64(f64::from(int8(a, scale)))).collect(), scale)
            }
        };
        for (column, c) in c.iter_mut().enumerate() {
            let products = a.iter().enumerate().map(|(at, &a)| a * T::from_f64(b.number(at, column).into()));
            let start = if accumulate { *c } else { T::ZERO } + bias.map_or(T::ZERO, |bias| bias[column]);
            *c = start + products.sum::<T>() * T::from_f64(f64::from(scale * b.scale(column)));
        }
    });
}

/// See [`Kernels::gemm_tn_bf16`](crate::kernels::Kernels::gemm_tn_bf16).
pub fn gemm_tn_bf16<T: Number>(
    threads: &Threads,
    segments: &[impl Segment<T>],
    n_out: usize,
    n_in: usize,
    c: &mut [T],
    accumulate: bool,
) {
    let round = |x: &[T]| x.iter().map(|&x| rounded(x)).collect::<Vec<T>>();
    let segments: Vec<_> = segments.iter().map(|s| (round(s.dy()), round(s.x()), s.rows())).collect();
    let segments: Vec<_> = segments.iter().map(|(dy, x, rows)| (&dy[..], &x[..], *rows)).collect();
    super::gemm_tn(threads, &segments, n_out, n_in, c, accumulate);
}

/// See [`Kernels::bf16_words`](crate::kernels::Kernels::bf16_words).
pub fn bf16_words<T: Number>(row: &[T], words: &mut [u32]) {
    for (word, pair) in words.iter_mut().zip(row.chunks(2)) {
        *word = bf16(pair[0]) | pair.get(1).map_or(0, |&x| bf16(x) << 16);
    }
}

/// See [`Kernels::bf16_pair_words`](crate::kernels::Kernels::bf16_pair_words).
pub fn bf16_pair_words<T: Number>(first: &[T], second: &[T], words: &mut [u32]) {
    for ((word, &first), &second) in words.iter_mut().zip(first).zip(second) {
        *word = bf16(first) | bf16(second) << 16;
    }
}

/// See [`Kernels::int8_scale`](crate::kernels::Kernels::int8_scale).
pub fn int8_scale<T: Number>(row: &[T]) -> f32 {
    let sizes = row.iter().map(|x| x.abs().to_f64() as f32);
    sizes.fold(0.0, |most: f32, x| if most.is_nan() || x <= most { most } else { x }) / 127.0
}

/// See [`Kernels::int8_words`](crate::kernels::Kernels::int8_words).
pub fn int8_words<T: Number>(row: &[T], scale: f32, flip: u32, words: &mut [u32]) {
    for (word, four) in words.iter_mut().zip(row.chunks(4)) {
        let mut bytes = [0; 4];
        for (byte, &x) in bytes.iter_mut().zip(four) {
            *byte = int8(x, scale).cast_unsigned();
        }
        *word = u32::from_le_bytes(bytes) ^ flip;
    }
}

/// The nearest number of 8 bits, ties to even, of a number over its scale: 0 where the scale is too small to divide by.
fn int8<T: Number>(x: T, scale: f32) -> i8 {
    let inverse = if scale >= f32::MIN_POSITIVE { 1.0 / scale } else { 0.0 };
    ((x.to_f64() as f32) * inverse).round_ties_even() as i8
}

/// The nearest bf16.
fn rounded<T: Number>(x: T) -> T {
    T::from_f64(f64::from(f32::from_bits(bf16(x) << 16)))
}

/// The upper half of the bits of an f32, after rounding to nearest, ties to even.
fn bf16<T: Number>(x: T) -> u32 {
    let x = x.to_f64() as f32;
    if x.is_nan() {
        return (x.to_bits() >> 16) | 0x40;
    }
    let (kept, cut) = (x.to_bits() >> 16, x.to_bits() & 0xFFFF);
    if cut > 0x8000 || (cut == 0x8000 && kept % 2 == 1) { kept + 1 } else { kept }
}
