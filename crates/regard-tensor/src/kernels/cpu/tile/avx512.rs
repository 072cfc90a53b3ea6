//! Tiles with AVX-512: a line of a panel is one register.

use super::{AHEAD, Form, Kernel, Scales, Tile};
use crate::kernels::PANEL;
use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_add_ps, _mm512_castps_si512,
    _mm512_castsi512_ps, _mm512_cvtepi32_ps, _mm512_dpbf16_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_setzero_si512, _mm512_storeu_ps, _mm512_sub_epi32,
};

/// The kernel for a form of word.
pub(super) fn kernel(form: Form) -> Kernel {
    let (run, flip): (unsafe fn(&Tile), u32) = match form {
        Form::F32 => (f32::tile, 0),
        Form::Bf16 => (bf16::tile, 0),
        Form::Int8 => (int8::tile, 0x8080_8080),
    };
    Kernel { run, rows: ROWS, panels, flip }
}

/// Most rows in a tile: 12 rows of two panels fill 24 of the 32 registers.
const ROWS: usize = 12;

/// See [`Kernel::panels`](super::Kernel::panels).
fn panels(rows: usize) -> usize {
    match rows {
        1 => 8,
        2 | 3 => 4,
        _ => 2,
    }
}

/// The loops for one form of word: how a word of A and a line of B enter a sum, and the number that the sum in the end is.
macro_rules! form {
    ($form:ident, $features:literal, |$sum:ident, $a:ident, $b:ident| $step:expr, $number:ident) => {
        mod $form {
            #[allow(clippy::wildcard_imports, reason = "the file's own names")]
            use super::*;

            /// # Safety
            /// As [`Kernel::run`](crate::kernels::cpu::tile::Kernel::run) says.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn tile(t: &Tile) {
                // SAFETY: handed on to the caller.
                unsafe {
                    strips! { t:
                        1 => [1 2 3 4 5 6 7 8]
                        2 => [1 2 3 4]
                        3 => [1 2 3 4]
                        4 => [1 2]
                        5 => [1 2]
                        6 => [1 2]
                        7 => [1 2]
                        8 => [1 2]
                        9 => [1 2]
                        10 => [1 2]
                        11 => [1 2]
                        12 => [1 2]
                    }
                }
            }

            /// A tile of R rows and P panels, by the two ways that A is laid out.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn strip<const R: usize, const P: usize>(t: &Tile) {
                // SAFETY: handed on to the caller.
                unsafe { if t.a_row == 1 { sums::<R, P>(t, 1, ROWS) } else { sums::<R, P>(t, t.a_row, 1) } }
            }

            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn sums<const R: usize, const P: usize>(t: &Tile, a_row: usize, a_depth: usize) {
                // SAFETY: all within the tile, as the caller promises.
                unsafe {
                    // C is needed only at the end: by then it has come from memory.
                    for r in 0..R {
                        for p in 0..P {
                            _mm_prefetch::<_MM_HINT_T0>(t.c.add(r * t.c_row + p * PANEL).cast());
                        }
                    }
                    let mut sums = [[_mm512_setzero_ps(); P]; R];
                    let mut line = [_mm512_setzero_si512(); P];
                    let (mut a, mut b) = (t.a, t.b);
                    for _ in 0..t.depth {
                        for (p, line) in line.iter_mut().enumerate() {
                            let b = b.add(p * t.b_panel);
                            _mm_prefetch::<_MM_HINT_T0>(b.wrapping_add(AHEAD).cast());
                            *line = _mm512_loadu_si512(b.cast());
                        }
                        for (r, sums) in sums.iter_mut().enumerate() {
                            let $a = _mm512_set1_epi32((*a.add(r * a_row)).cast_signed());
                            for ($sum, $b) in sums.iter_mut().zip(line) {
                                *$sum = $step;
                            }
                        }
                        a = a.wrapping_add(a_depth);
                        b = b.wrapping_add(PANEL);
                    }
                    for (r, sums) in sums.iter().enumerate() {
                        for (p, &sum) in sums.iter().enumerate() {
                            let from = _mm512_loadu_ps(t.from.add(r * t.from_row + p * PANEL));
                            let number = $number(&t.scales, r, p * PANEL, sum);
                            _mm512_storeu_ps(t.c.add(r * t.c_row + p * PANEL), _mm512_add_ps(from, number));
                        }
                    }
                }
            }
        }
    };
}

form!(
    f32,
    "avx512f",
    |sum, a, b| _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), *sum),
    itself
);
form!(bf16, "avx512f,avx512bf16", |sum, a, b| _mm512_dpbf16_ps(*sum, bf16s(a), bf16s(b)), itself);
// The sums are integers, whose bits pass through the registers of floats.
form!(
    int8,
    "avx512f,avx512vnni",
    |sum, a, b| _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(*sum), a, b)),
    scaled
);

/// The words of a register as pairs of bf16.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn bf16s(words: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes of which every pattern is valid.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(words) }
}

/// A sum that is a number.
#[inline]
#[target_feature(enable = "avx512f")]
fn itself(_: &Scales, _: usize, _: usize, sum: __m512) -> __m512 {
    sum
}

/// What the integers of a row and of the columns from one on stand for.
///
/// # Safety
/// The scales of the row and the columns must exist.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn scaled(scales: &Scales, row: usize, column: usize, sum: __m512) -> __m512 {
    // SAFETY: the caller promises it.
    let (row, columns, offsets) = unsafe {
        let offsets = _mm512_loadu_si512(scales.offsets.add(column).cast());
        (*scales.rows.add(row), _mm512_loadu_ps(scales.columns.add(column)), offsets)
    };
    let integers = _mm512_sub_epi32(_mm512_castps_si512(sum), offsets);
    _mm512_mul_ps(_mm512_cvtepi32_ps(integers), _mm512_mul_ps(_mm512_set1_ps(row), columns))
}
