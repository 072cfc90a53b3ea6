//! Tiles with AVX2: a line of a panel is two registers.

use super::Tile;
use crate::kernels::PANEL;
use std::arch::x86_64::{
    __m256, _MM_HINT_T0, _mm_prefetch, _mm256_add_ps, _mm256_broadcast_ss, _mm256_fmadd_ps, _mm256_loadu_ps,
    _mm256_setzero_ps, _mm256_storeu_ps,
};

/// Most rows in a tile: 6 rows of 16 columns fill 12 of the 16 registers.
pub(super) const ROWS: usize = 6;

/// How far ahead B is asked for: a page, as the processor's own reading ahead stops at its end.
const AHEAD: usize = 1024;

/// See [`Kernel::panels`](super::Kernel::panels).
pub(super) fn panels(rows: usize) -> usize {
    match rows {
        1 => 4,
        2 => 2,
        _ => 1,
    }
}

/// # Safety
/// As [`Kernel::run`](super::Kernel::run) says.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn tile(t: &Tile) {
    // SAFETY: handed on to the caller.
    unsafe {
        match (t.rows, t.panels) {
            (1, 4) => strip::<1, 4>(t),
            (1, 3) => strip::<1, 3>(t),
            (1, 2) => strip::<1, 2>(t),
            (1, _) => strip::<1, 1>(t),
            (2, 2) => strip::<2, 2>(t),
            (2, _) => strip::<2, 1>(t),
            (3, _) => strip::<3, 1>(t),
            (4, _) => strip::<4, 1>(t),
            (5, _) => strip::<5, 1>(t),
            _ => strip::<6, 1>(t),
        }
    }
}

/// A tile of R rows and P panels, by the two ways that A is laid out.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn strip<const R: usize, const P: usize>(t: &Tile) {
    // SAFETY: handed on to the caller.
    unsafe { if t.a_row == 1 { sums::<R, P>(t, 1, ROWS) } else { sums::<R, P>(t, t.a_row, 1) } }
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
                let line: [__m256; 2] = [_mm256_loadu_ps(b), _mm256_loadu_ps(b.add(8))];
                for (r, sums) in sums.iter_mut().enumerate() {
                    let a = _mm256_broadcast_ss(&*a.add(r * a_row));
                    sums[p][0] = _mm256_fmadd_ps(a, line[0], sums[p][0]);
                    sums[p][1] = _mm256_fmadd_ps(a, line[1], sums[p][1]);
                }
            }
            a = a.add(a_depth);
            b = b.add(PANEL);
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sums) in sums.iter().enumerate() {
                let c = t.c.add(r * t.c_row + p * PANEL);
                let from = t.from.add(r * t.from_row + p * PANEL);
                _mm256_storeu_ps(c, _mm256_add_ps(_mm256_loadu_ps(from), sums[0]));
                _mm256_storeu_ps(c.add(8), _mm256_add_ps(_mm256_loadu_ps(from.add(8)), sums[1]));
            }
        }
    }
}
