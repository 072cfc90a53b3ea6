//! Tiles with AVX2: a line of a panel is two registers.

use super::{AHEAD, Form, Kernel, Scales, Tile};
use crate::kernels::PANEL;
use std::arch::x86_64::{
    __m256, __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_abs_epi8, _mm256_add_epi32, _mm256_add_ps,
    _mm256_and_si256, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_cvtepi32_ps, _mm256_fmadd_ps,
    _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_sign_epi8,
    _mm256_slli_epi32, _mm256_storeu_ps,
};

/// The kernel for a form of word.
pub(super) fn kernel(form: Form) -> Kernel {
    match form {
        Form::F32 => Kernel { run: f32::tile, rows: ROWS, panels, flip: 0 },
        Form::Bf16 => Kernel { run: bf16::tile, rows: NARROW_ROWS, panels: |_| 1, flip: 0 },
        Form::Int8 => Kernel { run: int8::tile, rows: NARROW_ROWS, panels: |_| 1, flip: 0 },
    }
}

/// Most rows in a tile: 6 rows of 16 columns fill 12 of the 16 registers.
const ROWS: usize = 6;

/// Most rows in a tile of words that are taken apart first, which needs registers too.
const NARROW_ROWS: usize = 4;

/// See [`Kernel::panels`](super::Kernel::panels).
fn panels(rows: usize) -> usize {
    match rows {
        1 => 4,
        2 => 2,
        _ => 1,
    }
}

/// The loops for one form of word: its tiles; how words are taken apart; how the parts of A and of B enter a sum, and the
/// number that the sum in the end is.
macro_rules! form {
    (
        $form:ident, $rows:expr, [$($tiles:tt)*], $apart_a:ident, $apart_b:ident,
        |$sum:ident, $a:ident, $b:ident| $step:expr, $number:ident
    ) => {
        mod $form {
            #[allow(clippy::wildcard_imports, reason = "the file's own names")]
            use super::*;

            /// # Safety
            /// As [`Kernel::run`](crate::kernels::cpu::tile::Kernel::run) says.
            #[target_feature(enable = "avx2,fma")]
            pub(super) unsafe fn tile(t: &Tile) {
                // SAFETY: handed on to the caller.
                unsafe { strips! { t: $($tiles)* } }
            }

            /// A tile of R rows and P panels, by the two ways that A is laid out.
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn strip<const R: usize, const P: usize>(t: &Tile) {
                // SAFETY: handed on to the caller.
                unsafe { if t.a_row == 1 { sums::<R, P>(t, 1, $rows) } else { sums::<R, P>(t, t.a_row, 1) } }
            }

            #[inline]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn sums<const R: usize, const P: usize>(t: &Tile, a_row: usize, a_depth: usize) {
                // SAFETY: all within the tile, as the caller promises.
                unsafe {
                    // C is needed only at the end: by then it has come from memory.
                    for r in 0..R {
                        _mm_prefetch::<_MM_HINT_T0>(t.c.add(r * t.c_row).cast());
                        _mm_prefetch::<_MM_HINT_T0>(t.c.add(r * t.c_row + P * PANEL - 1).cast());
                    }
                    let mut sums = [[[_mm256_setzero_ps(); 2]; P]; R];
                    let (mut a, mut b) = (t.a, t.b);
                    for _ in 0..t.depth {
                        _mm_prefetch::<_MM_HINT_T0>(b.wrapping_add(AHEAD).cast());
                        for p in 0..P {
                            let b = b.add(p * t.b_panel);
                            let halves = [_mm256_loadu_si256(b.cast()), _mm256_loadu_si256(b.add(8).cast())];
                            let line = [$apart_b(halves[0]), $apart_b(halves[1])];
                            for (r, sums) in sums.iter_mut().enumerate() {
                                let $a = $apart_a(_mm256_set1_epi32((*a.add(r * a_row)).cast_signed()));
                                for ($sum, $b) in sums[p].iter_mut().zip(line) {
                                    *$sum = $step;
                                }
                            }
                        }
                        a = a.wrapping_add(a_depth);
                        b = b.wrapping_add(PANEL);
                    }
                    for (r, sums) in sums.iter().enumerate() {
                        for (p, sums) in sums.iter().enumerate() {
                            let c = t.c.add(r * t.c_row + p * PANEL);
                            let from = t.from.add(r * t.from_row + p * PANEL);
                            for (half, &sum) in sums.iter().enumerate() {
                                let number = $number(&t.scales, r, p * PANEL + 8 * half, sum);
                                let from = _mm256_loadu_ps(from.add(8 * half));
                                _mm256_storeu_ps(c.add(8 * half), _mm256_add_ps(from, number));
                            }
                        }
                    }
                }
            }
        }
    };
}

form!(
    f32, ROWS, [1 => [1 2 3 4] 2 => [1 2] 3 => [1] 4 => [1] 5 => [1] 6 => [1]], float, float,
    |sum, a, b| _mm256_fmadd_ps(a, b, *sum), itself
);
form!(
    bf16, NARROW_ROWS, [1 => [1] 2 => [1] 3 => [1] 4 => [1]], floats, floats,
    |sum, a, b| _mm256_fmadd_ps(a[0], b[0], _mm256_fmadd_ps(a[1], b[1], *sum)), itself
);
// The sums are integers, whose bits pass through the registers of floats. The instruction that multiplies bytes takes one
// without sign and adds two products up in 16 bits: the size of B's byte times A's with the sign of both is at most 127²,
// of which two fit, so that nothing saturates.
form!(
    int8, NARROW_ROWS, [1 => [1] 2 => [1] 3 => [1] 4 => [1]], bytes, sized_bytes,
    |sum, a, b| add_products(*sum, a, b), scaled
);

/// A word that is one f32.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn float(words: __m256i) -> __m256 {
    _mm256_castsi256_ps(words)
}

/// The two bf16 of each word as f32: the low ones and the high ones.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn floats(words: __m256i) -> [__m256; 2] {
    let high = _mm256_and_si256(words, _mm256_set1_epi32(-0x1_0000));
    [_mm256_castsi256_ps(_mm256_slli_epi32::<16>(words)), _mm256_castsi256_ps(high)]
}

/// A word that is four bytes.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn bytes(words: __m256i) -> __m256i {
    words
}

/// Bytes, with their sizes before them.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn sized_bytes(words: __m256i) -> [__m256i; 2] {
    [_mm256_abs_epi8(words), words]
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_products(sum: __m256, a: __m256i, [size, b]: [__m256i; 2]) -> __m256 {
    let pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(a, b));
    let products = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), products))
}

/// A sum that is a number.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn itself(_: &Scales, _: usize, _: usize, sum: __m256) -> __m256 {
    sum
}

/// What the integers of a row and of the columns from one on stand for.
///
/// # Safety
/// The scales of the row and the columns must exist.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn scaled(scales: &Scales, row: usize, column: usize, sum: __m256) -> __m256 {
    // SAFETY: the caller promises it.
    let (row, columns) = unsafe { (*scales.rows.add(row), _mm256_loadu_ps(scales.columns.add(column))) };
    let integers = _mm256_cvtepi32_ps(_mm256_castps_si256(sum));
    _mm256_mul_ps(integers, _mm256_mul_ps(_mm256_set1_ps(row), columns))
}
