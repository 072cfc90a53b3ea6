//! The innermost loop of the matrix products: a few rows of A times one or more panels of B.
//!
//! Each element of C is what it starts from plus one chain of multiply-adds over the depth in order. A long depth is cut
//! at fixed places, and each block adds its chain to C; so the tile's shape does not change a bit.

use super::isa::Isa;
use crate::kernels::PANEL;

/// Most rows in a tile: 6 rows of 16 columns fill 12 of AVX2's 16 registers.
pub(super) const ROWS: usize = 6;

/// Operands of one tile, in elements.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// A's element (i, k) is at `a + i·a_row + k·a_depth`.
    pub(super) a: *const f32,
    pub(super) a_row: usize,
    pub(super) a_depth: usize,
    /// The panel at the first depth; the next panel is `b_panel` further.
    pub(super) b: *const f32,
    pub(super) b_panel: usize,
    pub(super) depth: usize,
    /// What the sums are added to is at `from + i·from_row + column`.
    pub(super) from: *const f32,
    pub(super) from_row: usize,
    /// C's element (i, column) is at `c + i·c_row + column`.
    pub(super) c: *mut f32,
    pub(super) c_row: usize,
    pub(super) rows: usize,
    pub(super) panels: usize,
}

/// Computes a tile of 1 to 6 rows and, with few rows, up to [`panels_at_once`] panels.
///
/// # Safety
/// All that the [`Tile`] describes must lie in live memory, nobody else may use its part of C, and C and the start may
/// be the same but not overlap otherwise.
pub(super) type Kernel = unsafe fn(&Tile);

/// The kernel of an instruction set.
pub(super) fn kernel(isa: Isa) -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if isa.is_avx2() {
        return |tile| {
            // SAFETY: `isa` is AVX2 only where the processor has it; the rest is the caller's promise.
            unsafe { avx2::tile(tile) }
        };
    }
    let _ = isa;
    portable
}

/// Panels that a tile of so many rows takes at once: a chain waits 4 cycles for each link, so that about 8 registers of
/// sums are needed to keep two multiply-add units busy.
pub(super) fn panels_at_once(rows: usize) -> usize {
    match rows {
        1 => 4,
        2 => 2,
        _ => 1,
    }
}

/// The kernel in plain Rust.
///
/// # Safety
/// As [`Kernel`] says.
unsafe fn portable(t: &Tile) {
    for (row, panel) in (0..t.rows).flat_map(|row| (0..t.panels).map(move |panel| (row, panel))) {
        // SAFETY: within the tile, as the caller promises.
        unsafe {
            let (a, b) = (t.a.add(row * t.a_row), t.b.add(panel * t.b_panel).cast::<[f32; PANEL]>());
            let mut sums = [0.0; PANEL];
            for k in 0..t.depth {
                let (a, line) = (*a.add(k * t.a_depth), &*b.add(k));
                for (sum, b) in sums.iter_mut().zip(line) {
                    *sum = super::math::fma::<{ super::isa::PORTABLE_FMA }>(a, *b, *sum);
                }
            }
            let from = &*t.from.add(row * t.from_row + panel * PANEL).cast::<[f32; PANEL]>();
            let c = std::array::from_fn(|lane| from[lane] + sums[lane]);
            *t.c.add(row * t.c_row + panel * PANEL).cast::<[f32; PANEL]>() = c;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{PANEL, Tile};
    use std::arch::x86_64::{
        __m256, _MM_HINT_T0, _mm_prefetch, _mm256_add_ps, _mm256_broadcast_ss, _mm256_fmadd_ps,
        _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };

    /// How far ahead B is asked for: a page, as the processor's own reading ahead stops at its end.
    const AHEAD: usize = 1024;

    /// # Safety
    /// As [`Kernel`](super::Kernel) says.
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
        unsafe { if t.a_row == 1 { sums::<R, P>(t, 1, super::ROWS) } else { sums::<R, P>(t, t.a_row, 1) } }
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
}
